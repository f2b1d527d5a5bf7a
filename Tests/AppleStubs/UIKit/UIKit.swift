// The parts of UIKit that the other stubs use.

@_exported import Foundation

@available(iOS 2, tvOS 9, *)
@MainActor open class UIResponder: NSObject {}

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
