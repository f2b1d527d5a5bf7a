// ExtensionFoundation's AppExtension and AppExtensionConfiguration, as far as an extension without a screen needs them.

public protocol AppExtension {
  associatedtype Configuration: AppExtensionConfiguration
  @MainActor @preconcurrency var configuration: Configuration { get }
  @MainActor @preconcurrency init()
}

extension AppExtension {
  /// The entry point for `@main`. Visible only to files that import this module.
  @MainActor @preconcurrency public static func main() throws {}
}

@MainActor @preconcurrency public protocol AppExtensionConfiguration: Sendable {}
