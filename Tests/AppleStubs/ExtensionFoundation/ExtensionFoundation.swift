// ExtensionFoundation's AppExtension and AppExtensionConfiguration, as far as an extension without a screen needs them.

@available(macOS 13, iOS 16, watchOS 9, tvOS 16, *)
public protocol AppExtension {
  associatedtype Configuration: AppExtensionConfiguration
  @MainActor @preconcurrency var configuration: Configuration { get }
  @MainActor @preconcurrency init()
}

@available(macOS 13, iOS 16, watchOS 9, tvOS 16, *)
extension AppExtension {
  /// The entry point for `@main`. Visible only to files that import this module.
  @MainActor @preconcurrency public static func main() throws {}
}

@available(macOS 13, iOS 16, watchOS 9, tvOS 16, *)
@MainActor @preconcurrency public protocol AppExtensionConfiguration: Sendable {}
