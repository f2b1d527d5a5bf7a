// The parts of UIKit that the other stubs use.

@_exported import Foundation

@available(iOS 2, tvOS 9, *)
@MainActor open class UIResponder: NSObject {}

@available(iOS 2, tvOS 9, *)
@MainActor open class UIApplication: UIResponder {
  public struct LaunchOptionsKey: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }
}

// Optional requirements have default implementations.
@available(iOS 2, tvOS 9, *)
@MainActor public protocol UIApplicationDelegate: NSObjectProtocol {
  @available(iOS 3, *)
  func application(_ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?)
    -> Bool
  @available(iOS 7, *)
  func application(
    _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String, completionHandler: @escaping () -> Void)
}

@available(iOS 2, tvOS 9, *)
extension UIApplicationDelegate {
  public func application(
    _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
  ) -> Bool { true }
  public func application(
    _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String, completionHandler: @escaping () -> Void
  ) {}
}

@available(iOS 2, tvOS 9, *)
@MainActor open class UIView: UIResponder {
  public init(frame: CGRect) { super.init() }
  open var isOpaque = true
}

@available(iOS 2, tvOS 9, *)
@MainActor open class UIViewController: UIResponder {
  open func loadView() {}
  open func viewDidLoad() {}
}
