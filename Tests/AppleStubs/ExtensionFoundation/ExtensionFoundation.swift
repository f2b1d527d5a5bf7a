// ExtensionFoundation's AppExtension and AppExtensionConfiguration, as far as an extension without a screen needs them.

public protocol AppExtension {
  associatedtype Configuration: AppExtensionConfiguration
  @MainActor @preconcurrency var configuration: Configuration { get }
  @MainActor @preconcurrency init()
}

extension AppExtension {
  /// What `@main` calls. Only who imports this module sees it.
  @MainActor @preconcurrency public static func main() throws {}
}

@MainActor @preconcurrency public protocol AppExtensionConfiguration: Sendable {}
