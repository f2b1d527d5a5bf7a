// CryptoKit as far as CryptoKitBackend.swift uses it. Signatures as in apple/swift-crypto, whose API is CryptoKit's; availability as in
// developer.apple.com/documentation/cryptokit: iOS 13 and macOS 10.15, HKDF iOS 14 and macOS 11.

public import Foundation

@available(iOS 13.0, macOS 10.15, watchOS 6.0, tvOS 13.0, *)
public struct SymmetricKey: ContiguousBytes, Equatable, Sendable {
  public init<D: ContiguousBytes>(data: D) {}
  public var bitCount: Int { 0 }
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
  public static func == (left: SymmetricKey, right: SymmetricKey) -> Bool { false }
}

@available(iOS 13.0, macOS 10.15, watchOS 6.0, tvOS 13.0, *)
public protocol Digest: Hashable, ContiguousBytes, CustomStringConvertible, Sequence where Element == UInt8 {
  static var byteCount: Int { get }
}

@available(iOS 13.0, macOS 10.15, watchOS 6.0, tvOS 13.0, *)
public protocol HashFunction: Sendable {
  associatedtype Digest: CryptoKit.Digest
  init()
  mutating func update(bufferPointer: UnsafeRawBufferPointer)
  func finalize() -> Digest
}

@available(iOS 13.0, macOS 10.15, watchOS 6.0, tvOS 13.0, *)
extension HashFunction {
  public mutating func update<D: DataProtocol>(data: D) {}
}

@available(iOS 13.0, macOS 10.15, watchOS 6.0, tvOS 13.0, *)
public struct SHA256Digest: Digest, Sendable {
  public static var byteCount: Int { 32 }
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
  public func makeIterator() -> Array<UInt8>.Iterator { [].makeIterator() }
  public var description: String { "" }
}

@available(iOS 13.0, macOS 10.15, watchOS 6.0, tvOS 13.0, *)
public struct SHA256: HashFunction {
  public typealias Digest = SHA256Digest
  public init() {}
  public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
  public func finalize() -> SHA256Digest { fatalError() }
}

@available(iOS 13.0, macOS 10.15, watchOS 6.0, tvOS 13.0, *)
public struct HashedAuthenticationCode<H: HashFunction>: ContiguousBytes, Sequence {
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
  public func makeIterator() -> Array<UInt8>.Iterator { [].makeIterator() }
}

@available(iOS 13.0, macOS 10.15, watchOS 6.0, tvOS 13.0, *)
public struct HMAC<H: HashFunction>: Sendable {
  public static func authenticationCode<D: DataProtocol>(for data: D, using key: SymmetricKey) -> HashedAuthenticationCode<H> {
    fatalError()
  }
}

@available(iOS 14.0, macOS 11.0, watchOS 7.0, tvOS 14.0, *)
public struct HKDF<H: HashFunction>: Sendable {
  public static func deriveKey<Salt: DataProtocol, Info: DataProtocol>(
    inputKeyMaterial: SymmetricKey, salt: Salt, info: Info, outputByteCount: Int
  ) -> SymmetricKey { fatalError() }
}

@available(iOS 13.0, macOS 10.15, watchOS 6.0, tvOS 13.0, *)
public enum Curve25519: Sendable {
  public enum KeyAgreement: Sendable {
    public struct PrivateKey: Sendable {
      public init<D: ContiguousBytes>(rawRepresentation: D) throws {}
      public var publicKey: PublicKey { fatalError() }
      public func sharedSecretFromKeyAgreement(with publicKeyShare: PublicKey) throws -> SharedSecret { fatalError() }
    }

    public struct PublicKey: Sendable {
      public init<D: ContiguousBytes>(rawRepresentation: D) throws {}
      public var rawRepresentation: Data { fatalError() }
    }
  }

  public enum Signing: Sendable {
    public struct PrivateKey: Sendable {
      public init<D: ContiguousBytes>(rawRepresentation data: D) throws {}
      public var publicKey: PublicKey { fatalError() }
      public var rawRepresentation: Data { fatalError() }
      public func signature<D: DataProtocol>(for data: D) throws -> Data { fatalError() }
    }

    public struct PublicKey: Sendable {
      public init<D: ContiguousBytes>(rawRepresentation: D) throws {}
      public var rawRepresentation: Data { fatalError() }
      public func isValidSignature<S: DataProtocol, D: DataProtocol>(_ signature: S, for data: D) -> Bool { false }
    }
  }
}

@available(iOS 13.0, macOS 10.15, watchOS 6.0, tvOS 13.0, *)
public struct SharedSecret: ContiguousBytes, Sendable {
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
}

@available(iOS 13.0, macOS 10.15, watchOS 6.0, tvOS 13.0, *)
public enum AES: Sendable {
  public enum GCM: Sendable {
    public struct Nonce: ContiguousBytes, Sequence, Sendable {
      public init() {}
      public init<D: DataProtocol>(data: D) throws {}
      public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
      public func makeIterator() -> Array<UInt8>.Iterator { [].makeIterator() }
    }

    public struct SealedBox: Sendable {
      public init<D: DataProtocol>(combined: D) throws {}
      public var ciphertext: Data { fatalError() }
      public var tag: Data { fatalError() }
    }

    public static func seal<Plaintext: DataProtocol>(
      _ message: Plaintext, using key: SymmetricKey, nonce: Nonce? = nil
    ) throws -> SealedBox { fatalError() }
    public static func seal<Plaintext: DataProtocol, AuthenticatedData: DataProtocol>(
      _ message: Plaintext, using key: SymmetricKey, nonce: Nonce? = nil, authenticating authenticatedData: AuthenticatedData
    ) throws -> SealedBox { fatalError() }
    public static func open(_ sealedBox: SealedBox, using key: SymmetricKey) throws -> Data { fatalError() }
  }
}
