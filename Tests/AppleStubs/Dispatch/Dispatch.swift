// The Swift interface of Dispatch (swiftlang/swift-corelibs-libdispatch, src/swift), which is the same on Apple platforms, with the availability of
// Apple's documentation: developer.apple.com/documentation/dispatch/dispatchqueue. Clients see it through Foundation, too.

@available(macOS 10.10, iOS 8.0, *)
public struct DispatchQoS: Equatable, Sendable {
  public enum QoSClass: Sendable {
    case background
    case utility
    case `default`
    case userInitiated
    case userInteractive
    case unspecified
  }
  public static let utility = DispatchQoS()
  public static let unspecified = DispatchQoS()
}

public struct DispatchWorkItemFlags: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
}

public struct DispatchTime: Comparable, Sendable {
  public let rawValue: UInt64
  public static func now() -> DispatchTime { DispatchTime(rawValue: 0) }
  public static func < (left: DispatchTime, right: DispatchTime) -> Bool { left.rawValue < right.rawValue }
}

public func + (time: DispatchTime, seconds: Double) -> DispatchTime { time }

open class DispatchObject: @unchecked Sendable {}

open class DispatchSemaphore: DispatchObject, @unchecked Sendable {
  public init(value: Int) {}
  public func wait() {}
  @discardableResult public func signal() -> Int { 0 }
}

open class DispatchGroup: DispatchObject, @unchecked Sendable {}

open class DispatchQueue: DispatchObject, @unchecked Sendable {
  public convenience init(label: String) { fatalError() }
  public class var main: DispatchQueue { fatalError() }
  @available(macOS 10.10, iOS 8.0, *)
  public class func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue { fatalError() }
  @available(macOS 10.10, iOS 8.0, *)
  public func async(
    group: DispatchGroup? = nil, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    execute work: @escaping @Sendable @convention(block) () -> Void
  ) {}
  @available(macOS 10.10, iOS 8.0, *)
  public func asyncAfter(
    deadline: DispatchTime, qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    execute work: @escaping @Sendable @convention(block) () -> Void
  ) {}
}
