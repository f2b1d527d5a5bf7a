#if canImport(BackgroundAssets)
  public import BackgroundAssets
  import Foundation

  /// An extension for managed asset packs on your own server, which decides which of them the system may download by itself. The system does
  /// everything else.
  ///
  /// ```swift
  /// @main
  /// struct Downloader: PackManagedDownloaderExtension {
  ///   var choice: ManagedChoice { ManagedChoice { pack in !pack.id.hasSuffix("-4k") } }
  /// }
  /// ```
  ///
  /// Not for packs that Apple hosts. Their extension conforms to StoreKit's `StoreDownloaderExtension`, and may implement `shouldDownload(_:)`, but
  /// nothing that it inherits from `BADownloaderExtension`, as this protocol does for challenges. It needs nothing of this library.
  @available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
  public protocol PackManagedDownloaderExtension: ManagedDownloaderExtension {
    /// The choice of packs, and the answers to servers. Read at each callback.
    var choice: ManagedChoice { get }
  }

  /// The choice of managed asset packs that the system may download by itself.
  @available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
  public struct ManagedChoice: Sendable {
    private let isWanted: @Sendable (AssetPack) -> Bool
    let challenges: ChallengeHandler

    /// Creates a choice from a closure, which must agree with the app that opens the packs. Challenges are only sent by your own servers.
    public init(challenges: ChallengeHandler = .system, isWanted: @escaping @Sendable (AssetPack) -> Bool = { _ in true }) {
      self.challenges = challenges
      self.isWanted = isWanted
    }

    func includes(_ pack: AssetPack) -> Bool { isWanted(pack) }
  }

  @available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
  extension PackManagedDownloaderExtension {
    /// Called by the system for each pack whose policy permits automatic download.
    public func shouldDownload(_ assetPack: AssetPack) -> Bool {
      choice.includes(assetPack)
    }

    /// Called by the system for an authentication challenge. This is the only requirement of `BADownloaderExtension` that an extension for managed
    /// packs may implement.
    public func backgroundDownload(
      _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
      await choice.challenges.answer(challenge, of: download)
    }
  }
#endif
