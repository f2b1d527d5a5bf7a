open class NSNotification: NSObject {
  public struct Name: Hashable, Sendable {
    public init(_ rawValue: String) {}
  }
}

public struct Notification {
  public typealias Name = NSNotification.Name
}

open class NotificationCenter: NSObject, @unchecked Sendable {
  open class var `default`: NotificationCenter { fatalError() }
  open func addObserver(
    forName name: NSNotification.Name?, object obj: Any?, queue: OperationQueue?, using block: @escaping @Sendable (Notification) -> Void
  ) -> any NSObjectProtocol { fatalError() }
  open func removeObserver(_ observer: Any) {}
}
