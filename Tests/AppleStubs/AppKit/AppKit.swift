// The parts of AppKit that the other stubs use.

@_exported public import Foundation

@MainActor open class NSResponder: NSObject {}

@MainActor open class NSView: NSResponder {
  public init(frame: CGRect) { super.init() }
}
