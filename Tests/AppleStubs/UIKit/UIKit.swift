// The parts of UIKit that the other stubs use.

@_exported import Foundation

@MainActor open class UIResponder: NSObject {}

@MainActor open class UIView: UIResponder {
  public init(frame: CGRect) { super.init() }
  open var isOpaque = true
}
