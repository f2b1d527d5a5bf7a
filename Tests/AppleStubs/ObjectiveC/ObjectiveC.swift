// NSObject.h and NSObjCRuntime.h.

public struct NSZone {}

public protocol NSObjectProtocol: AnyObject {
  func isEqual(_ object: Any?) -> Bool
  var hash: Int { get }
  var description: String { get }
}

open class NSObject: NSObjectProtocol, Equatable, Hashable, CustomStringConvertible {
  public init() {}
  open func isEqual(_ object: Any?) -> Bool { false }
  open var hash: Int { 0 }
  open var description: String { "" }
  public static func == (left: NSObject, right: NSObject) -> Bool { left.isEqual(right) }
  public func hash(into hasher: inout Hasher) {}
}
