// The one protocol of StoreKit that has to do with Background Assets.

public import BackgroundAssets

@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
public protocol StoreDownloaderExtension: ManagedDownloaderExtension {}
