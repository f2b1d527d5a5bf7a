// As much of Apple's Core Foundation as PackRuntime calls, with the types that Swift sees there. Never run.

public typealias CFTypeRef = AnyObject
public typealias CFIndex = Int
public typealias CFTypeID = UInt
public typealias OSStatus = Int32

public final class CFAllocator: @unchecked Sendable {}
public final class CFBoolean: @unchecked Sendable {}
public final class CFData {}
public final class CFDictionary {}
public final class CFString: @unchecked Sendable {
  public init() {}
}

public let kCFAllocatorNull: CFAllocator! = CFAllocator()
public let kCFBooleanTrue: CFBoolean! = CFBoolean()

// Unsafe, as structures of C are that hold pointers.
@unsafe public struct CFDictionaryKeyCallBacks: Sendable {}
@unsafe public struct CFDictionaryValueCallBacks: Sendable {}
public let kCFTypeDictionaryKeyCallBacks = unsafe CFDictionaryKeyCallBacks()
public let kCFTypeDictionaryValueCallBacks = unsafe CFDictionaryValueCallBacks()

public struct CFStringBuiltInEncodings: RawRepresentable, Sendable {
  public var rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public static let UTF8 = CFStringBuiltInEncodings(rawValue: 0x0800_0100)
}

public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID { fatalError() }

public func CFDataGetTypeID() -> CFTypeID { fatalError() }

public func CFDataGetLength(_ theData: CFData!) -> CFIndex { fatalError() }

public func CFDataGetBytePtr(_ theData: CFData!) -> UnsafePointer<UInt8>! { fatalError() }

public func CFDataCreateWithBytesNoCopy(
  _ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex, _ bytesDeallocator: CFAllocator!
) -> CFData! { fatalError() }

public func CFDictionaryCreate(
  _ allocator: CFAllocator!, _ keys: UnsafeMutablePointer<UnsafeRawPointer?>!, _ values: UnsafeMutablePointer<UnsafeRawPointer?>!,
  _ numValues: CFIndex, _ keyCallBacks: UnsafePointer<CFDictionaryKeyCallBacks>!,
  _ valueCallBacks: UnsafePointer<CFDictionaryValueCallBacks>!
) -> CFDictionary! { fatalError() }

public func CFStringCreateWithBytes(
  _ alloc: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ numBytes: CFIndex, _ encoding: UInt32, _ isExternalRepresentation: Bool
) -> CFString! { fatalError() }
