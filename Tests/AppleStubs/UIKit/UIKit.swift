// What of UIKit the others build on.

@_exported import Foundation

@MainActor open class UIResponder: NSObject {}

@MainActor open class UIView: UIResponder {
  public init(frame: CGRect) { super.init() }
  open var isOpaque = true
}
