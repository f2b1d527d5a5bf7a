#if canImport(BackgroundAssets)
  public import BackgroundAssets
  import Foundation

  /// A downloader extension for packs. Provide a ``BackgroundDelivery``; all methods that the system calls are implemented.
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
  /// To do more, implement a method of `BADownloaderExtension` and call the corresponding method of ``delivery`` in it. `extensionWillTerminate()` is
  /// not implemented: not every system calls it, and it is not needed here.
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  public protocol PackDownloaderExtension: BADownloaderExtension {
    /// The implementation of the callbacks. Read at each callback.
    var delivery: BackgroundDelivery { get }
  }

  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  extension PackDownloaderExtension {
    /// Called by the system to get the downloads.
    public func downloads(for request: BAContentRequest, manifestURL: URL, extensionInfo: BAAppExtensionInfo) -> Set<BADownload> {
      delivery.downloads(for: request, manifest: manifestURL, information: extensionInfo)
    }

    /// Called by the system for a file that was downloaded while the app was not running.
    public func backgroundDownload(_ finishedDownload: BADownload, finishedWithFileURL fileURL: URL) {
      delivery.finished(finishedDownload, file: fileURL)
    }

    /// Called by the system for a download, or its own download of the manifest, that failed while the app was not running.
    public func backgroundDownload(_ failedDownload: BADownload, failedWithError error: any Error) {
      delivery.failed(failedDownload, error)
    }

    /// Called by the system for an authentication challenge.
    public func backgroundDownload(
      _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
      await delivery.answer(challenge, of: download)
    }
  }
#endif
