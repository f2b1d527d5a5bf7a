#if canImport(BackgroundAssets)
  public import BackgroundAssets
  import Foundation

  /// What an app answers a server that asks who is there: a client certificate, a password, a pinned key.
  ///
  /// Each download may ask several times, on any thread. Until it is answered the download waits, and in the extension the time counts.
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  public struct ChallengeHandler: Sendable {
    /// What is done about a challenge, and with which credential.
    public typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)

    private let handler: @Sendable (URLAuthenticationChallenge, BADownload) async -> Answer

    /// Asks a closure.
    ///
    /// - Parameter handler: gets the challenge, and the download that met it.
    public init(_ handler: @escaping @Sendable (_ challenge: URLAuthenticationChallenge, _ download: BADownload) async -> Answer) {
      self.handler = handler
    }

    /// Asks a closure that answers later, through what it is given. Only its first answer counts.
    public init(
      completing handler:
        @escaping @Sendable (
          _ challenge: URLAuthenticationChallenge, _ download: BADownload,
          _ completion: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) -> Void
    ) {
      self.init { challenge, download in
        let once = Once()
        return await withCheckedContinuation { (continuation: CheckedContinuation<Answer, Never>) in
          handler(challenge, download) { disposition, credential in
            if once.take() { continuation.resume(returning: (disposition, credential)) }
          }
        }
      }
    }

    /// Leaves it to the system, as an app without a handler does.
    public static let system = ChallengeHandler { _, _ in (.performDefaultHandling, nil) }

    package func answer(_ challenge: URLAuthenticationChallenge, of download: BADownload) async -> Answer {
      await handler(challenge, download)
    }
  }
#endif
