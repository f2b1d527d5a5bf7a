#if canImport(BackgroundAssets)
  public import BackgroundAssets
  import Foundation

  /// A downloader extension for packs: name a ``BackgroundDelivery``, and everything that the system asks for is there.
  ///
  /// ```swift
  /// import BackgroundAssets
  /// import ExtensionFoundation
  /// import PackBackground
  ///
  /// @main
  /// struct Downloader: PackDownloaderExtension {
  ///   var delivery: BackgroundDelivery { Shared.delivery }
  /// }
  /// ```
  ///
  /// Whoever wants to do more implements a method of `BADownloaderExtension` and calls the one of ``delivery`` in it. `extensionWillTerminate()` is not
  /// among them: the system does not call it everywhere, and nothing here waits for it.
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  public protocol PackDownloaderExtension: BADownloaderExtension {
    /// What does the work. Asked for at each callback.
    var delivery: BackgroundDelivery { get }
  }

  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  extension PackDownloaderExtension {
    /// Called by the system, which wants to know what to download.
    public func downloads(for request: BAContentRequest, manifestURL: URL, extensionInfo: BAAppExtensionInfo) -> Set<BADownload> {
      delivery.downloads(for: request, manifest: manifestURL, information: extensionInfo)
    }

    /// Called by the system for a file that came while the app was not running.
    public func backgroundDownload(_ finishedDownload: BADownload, finishedWithFileURL fileURL: URL) {
      delivery.finished(finishedDownload, file: fileURL)
    }

    /// Called by the system for a download, or its own of the manifest, that failed while the app was not running.
    public func backgroundDownload(_ failedDownload: BADownload, failedWithError error: any Error) {
      delivery.failed(failedDownload, error)
    }

    /// Called by the system when a server asks who is there.
    public func backgroundDownload(
      _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
      await delivery.answer(challenge, of: download)
    }
  }
#endif
