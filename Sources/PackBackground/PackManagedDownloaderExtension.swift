#if canImport(BackgroundAssets)
  public import BackgroundAssets
  import Foundation

  /// What an extension for managed asset packs decides: which of them the system may download by itself. Everything else the system does.
  ///
  /// ```swift
  /// @main
  /// struct Downloader: PackManagedDownloaderExtension {
  ///   var choice: ManagedChoice { ManagedChoice { pack in !pack.id.hasSuffix("-4k") } }
  /// }
  /// ```
  ///
  /// With Apple's hosting conform to StoreKit's `StoreDownloaderExtension` besides.
  @available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
  public protocol PackManagedDownloaderExtension: ManagedDownloaderExtension {
    /// What is decided by, and what servers are answered. Asked for at each callback.
    var choice: ManagedChoice { get }
  }

  /// Which managed asset packs the system may download by itself.
  @available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
  public struct ManagedChoice: Sendable {
    private let isWanted: @Sendable (AssetPack) -> Bool
    let challenges: ChallengeHandler

    /// Decides by a closure, as the app does that opens them; and answers challenges, which only servers of your own send.
    public init(challenges: ChallengeHandler = .system, isWanted: @escaping @Sendable (AssetPack) -> Bool = { _ in true }) {
      self.challenges = challenges
      self.isWanted = isWanted
    }

    func includes(_ pack: AssetPack) -> Bool { isWanted(pack) }
  }

  @available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
  extension PackManagedDownloaderExtension {
    /// Called by the system for each pack whose policy says that it may come by itself.
    public func shouldDownload(_ assetPack: AssetPack) -> Bool {
      choice.includes(assetPack)
    }

    /// Called by the system when a server asks who is there.
    public func backgroundDownload(
      _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
      await choice.challenges.answer(challenge, of: download)
    }
  }
#endif
