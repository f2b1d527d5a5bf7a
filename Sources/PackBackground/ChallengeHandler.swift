#if canImport(BackgroundAssets)
  public import BackgroundAssets
  import Foundation

  /// An app's answers to authentication challenges of servers: a client certificate, a password, or a pinned key.
  ///
  /// Each download may receive several challenges, on any thread. The download waits for each answer. In the extension, this time counts towards its
  /// time limit.
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  public struct ChallengeHandler: Sendable {
    /// The disposition of a challenge and the credential.
    public typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)

    private let handler: @Sendable (URLAuthenticationChallenge, BADownload) async -> Answer

    /// Creates a handler from an asynchronous closure.
    ///
    /// - Parameter handler: receives the challenge and the download that received it.
    public init(_ handler: @escaping @Sendable (_ challenge: URLAuthenticationChallenge, _ download: BADownload) async -> Answer) {
      self.handler = handler
    }

    /// Creates a handler from a closure that calls a completion handler. Only the first call counts.
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

    /// Leaves challenges to the system, like an app without a handler.
    public static let system = ChallengeHandler { _, _ in (.performDefaultHandling, nil) }

    package func answer(_ challenge: URLAuthenticationChallenge, of download: BADownload) async -> Answer {
      await handler(challenge, download)
    }
  }
#endif
