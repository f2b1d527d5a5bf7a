public import Dispatch

// NWPathMonitor and NWPath of the Swift interface of Network.

@available(macOS 10.14, iOS 12.0, watchOS 5.0, tvOS 12.0, *)
public struct NWPath: Equatable, Sendable {
  public enum Status: Sendable {
    case satisfied
    case unsatisfied
    case requiresConnection
  }

  public let status: Status
  public let isExpensive: Bool
  @available(macOS 10.15, iOS 13.0, watchOS 6.0, tvOS 13.0, *)
  public var isConstrained: Bool { false }
  public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool { false }
}

@available(macOS 10.14, iOS 12.0, watchOS 5.0, tvOS 12.0, *)
public struct NWInterface: Hashable, Sendable {
  public enum InterfaceType: Sendable {
    case other
    case wifi
    case cellular
    case wiredEthernet
    case loopback
  }
}

// Stricter than Apple's, which may be Sendable.
@available(macOS 10.14, iOS 12.0, watchOS 5.0, tvOS 12.0, *)
public final class NWPathMonitor {
  public init() {}
  public final var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)?
  public final func start(queue: DispatchQueue) {}
  public final func cancel() {}
}
