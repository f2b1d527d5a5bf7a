// The only protocol of StoreKit that concerns Background Assets. Its documentation says that it implements requirements of BADownloaderExtension, and
// that an extension must not implement these.

@_spi(Fake) public import BackgroundAssets

@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
public protocol StoreDownloaderExtension: ManagedDownloaderExtension {}

@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
extension StoreDownloaderExtension {
  public func downloads(for request: BAContentRequest, manifestURL: URL, extensionInfo: BAAppExtensionInfo) -> Set<BADownload> {
    FakeSystem.shared.noteDefault("downloads(for:manifestURL:extensionInfo:)")
    return []
  }
  public func backgroundDownload(
    _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
  ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
    FakeSystem.shared.noteDefault("backgroundDownload(_:didReceive:)")
    return (.performDefaultHandling, nil)
  }
  public func backgroundDownload(_ failedDownload: BADownload, failedWithError error: any Error) {
    FakeSystem.shared.noteDefault("backgroundDownload(_:failedWithError:)")
  }
  public func backgroundDownload(_ finishedDownload: BADownload, finishedWithFileURL fileURL: URL) {
    FakeSystem.shared.noteDefault("backgroundDownload(_:finishedWithFileURL:)")
  }
}
