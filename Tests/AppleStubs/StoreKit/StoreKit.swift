// The only protocol of StoreKit that concerns Background Assets.

public import BackgroundAssets

@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
public protocol StoreDownloaderExtension: ManagedDownloaderExtension {}
