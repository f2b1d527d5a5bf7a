// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

// CFBase.h, CFData.h, CFDictionary.h, CFNumber.h and CFString.h.

public typealias CFTypeRef = AnyObject
public typealias CFIndex = Int
public typealias CFTypeID = UInt
public typealias CFStringEncoding = UInt32
public typealias OSStatus = Int32

// Sendable, so that constants of these types can be used without annotations, as with imported declarations.
public final class CFAllocator: @unchecked Sendable {}
public final class CFBoolean: @unchecked Sendable {}

public final class CFString: @unchecked Sendable {
  let bytes: [UInt8]
  init(_ bytes: [UInt8]) { self.bytes = bytes }
}

public class CFData {
  let bytes: UnsafeMutableBufferPointer<UInt8>
  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = .allocate(capacity: bytes.count)
    _ = self.bytes.initialize(from: bytes)
  }
  deinit { bytes.deallocate() }
}

public class CFDictionary {
  let items: [(key: AnyObject, value: AnyObject)]
  init(_ items: [(key: AnyObject, value: AnyObject)]) { self.items = items }
}

// These types contain pointers to C functions.
@unsafe public struct CFDictionaryKeyCallBacks: @unchecked Sendable {}
@unsafe public struct CFDictionaryValueCallBacks: @unchecked Sendable {}

public enum CFStringBuiltInEncodings: UInt32 {
  case macRoman = 0
  case ASCII = 0x0600
  case UTF8 = 0x0800_0100
}

public let kCFAllocatorDefault: CFAllocator! = CFAllocator()
public let kCFAllocatorNull: CFAllocator! = CFAllocator()
public let kCFBooleanTrue: CFBoolean! = CFBoolean()
public let kCFBooleanFalse: CFBoolean! = CFBoolean()
public let kCFTypeDictionaryKeyCallBacks = CFDictionaryKeyCallBacks()
public let kCFTypeDictionaryValueCallBacks = CFDictionaryValueCallBacks()

public func CFGetTypeID(_ cf: CFTypeRef!) -> CFTypeID { cf is CFData ? CFDataGetTypeID() : 0 }
public func CFDataGetTypeID() -> CFTypeID { 20 }
public func CFDataGetLength(_ theData: CFData!) -> CFIndex { theData.bytes.count }
public func CFDataGetBytePtr(_ theData: CFData!) -> UnsafePointer<UInt8>! { UnsafePointer(theData.bytes.baseAddress) }

public func CFDataCreate(_ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex) -> CFData! {
  CFData(UnsafeBufferPointer(start: bytes, count: length))
}

public func CFDataCreateWithBytesNoCopy(
  _ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex, _ bytesDeallocator: CFAllocator!
) -> CFData! {
  CFData(UnsafeBufferPointer(start: bytes, count: length))
}

public func CFStringCreateWithBytes(
  _ alloc: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ numBytes: CFIndex, _ encoding: CFStringEncoding, _ isExternalRepresentation: Bool
) -> CFString! {
  CFString(Array(UnsafeBufferPointer(start: bytes, count: numBytes)))
}

public func CFDictionaryCreate(
  _ allocator: CFAllocator!, _ keys: UnsafeMutablePointer<UnsafeRawPointer?>!, _ values: UnsafeMutablePointer<UnsafeRawPointer?>!,
  _ numValues: CFIndex, _ keyCallBacks: UnsafePointer<CFDictionaryKeyCallBacks>!,
  _ valueCallBacks: UnsafePointer<CFDictionaryValueCallBacks>!
) -> CFDictionary! {
  func object(_ pointer: UnsafeRawPointer?) -> AnyObject { Unmanaged<AnyObject>.fromOpaque(pointer!).takeUnretainedValue() }
  return CFDictionary((0..<numValues).map { (object(keys[$0]), object(values[$0])) })
}

/// For the stub of Security: returns the value of a key in a dictionary.
public func stubValue(_ dictionary: CFDictionary, _ key: CFString) -> AnyObject? { dictionary.items.first { $0.key === key }?.value }
public func stubBytes(_ object: AnyObject?) -> [UInt8] { (object as? CFString)?.bytes ?? (object as? CFData).map { Array($0.bytes) } ?? [] }
public func stubString(_ text: String) -> CFString { CFString(Array(text.utf8)) }
public func stubData(_ bytes: [UInt8]) -> CFData { bytes.withUnsafeBufferPointer { CFData($0) } }

#if !canImport(FoundationNetworking)
  // CGBase.h and CFCGTypes.h, which Foundation declares on Linux.
  public struct CGFloat: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, Hashable, Sendable {
    public init(integerLiteral value: Int) {}
    public init(floatLiteral value: Double) {}
  }

  public struct CGRect: Hashable, Sendable {
    public static var zero: CGRect { CGRect() }
  }
#endif
