#if canImport(BackgroundAssets)
  import BackgroundAssets
  import Foundation

  /// The manager's delegate. The system calls it on its own queue, so every callback is quick: it writes one small file for a change of state, and
  /// nothing for progress.
  @available(iOS 16.4, macOS 13.3, tvOS 18.4, visionOS 2.4, *)
  final class DownloadListener: NSObject, BADownloadManagerDelegate, Sendable {
    let state: SharedState
    let progress: DownloadProgress
    let events = EventHub<BackgroundEvent>(bufferedCount: 1000)
    private let challenges: ChallengeHandler

    init(state: SharedState, challenges: ChallengeHandler, progress: DownloadProgress) {
      self.state = state
      self.challenges = challenges
      self.progress = progress
    }

    // MARK: The delegate

    func downloadDidBegin(_ download: BADownload) {
      guard case .download(let identifier) = download.subject else { return }
      note(.began, of: identifier)
      events.tell(.began(download: identifier))
    }

    func downloadDidPause(_ download: BADownload) {
      guard case .download(let identifier) = download.subject else { return }
      note(.paused(.system), of: identifier)
      events.tell(.paused(download: identifier))
    }

    func download(
      _ download: BADownload, didWriteBytes bytesWritten: Int64, totalBytesWritten: Int64,
      totalBytesExpectedToWrite totalExpectedBytes: Int64
    ) {
      guard case .download(let identifier) = download.subject else { return }
      let (received, size) = (UInt64(max(0, totalBytesWritten)), UInt64(max(0, totalExpectedBytes)))
      guard progress.note(identifier, received: received, of: size) else { return }
      events.tell(.progress(download: identifier, received: received, size: size))
    }

    func download(
      _ download: BADownload, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
      await challenges.answer(challenge, of: download)
    }

    func download(_ download: BADownload, failedWithError error: any Error) {
      let failure = DownloadFailure(error)
      guard case .download(let identifier) = download.subject else { return events.tell(.manifestFailed(failure)) }
      progress.forget(identifier)
      do throws(PackError) {
        let remedy = try state.downloadFailed(.download(identifier: identifier), failure)
        // The extension requested an essential download, and the app was started before it failed. A listener finds it in the system's list again.
        let refusal = remedy == .handOverAsNonEssential ? handOverAgain(download) : nil
        events.tell(.failed(download: identifier, failure, remedy))
        if let refusal { events.tell(refusal) }
      } catch {
        events.tell(.refused(error))
      }
    }

    func download(_ download: BADownload, finishedWithFileURL fileURL: URL) {
      guard case .download(let identifier) = download.subject else { return }
      progress.forget(identifier)
      do throws(PackError) {
        let parking = try state.park(fileURL.path, asDownload: identifier)
        let isUnfit = if case .wrongSize(.handOverAsNonEssential) = parking { true } else { false }
        let refusal = isUnfit ? handOverAgain(download) : nil
        events.tell(.arrived(download: identifier, parking))
        if let refusal { events.tell(refusal) }
      } catch {
        events.tell(.refused(error))
      }
    }

    // MARK: Shared parts

    private func note(_ event: PackEvent, of download: String) {
      do throws(PackError) {
        try state.note(event, ofDownload: download)
      } catch {
        events.tell(.refused(error))
      }
    }

    /// - Returns: the event if the system refused it or the refusal could not be recorded.
    private func handOverAgain(_ download: BADownload) -> BackgroundEvent? {
      do {
        try BADownloadManager.shared.scheduleDownload(download.removingEssential())
        return nil
      } catch {
        let failure = DownloadFailure(error)
        guard failure.remedy != .alreadyScheduled else { return nil }
        do throws(PackError) {
          let remedy = try state.downloadFailed(.download(identifier: download.identifier), failure)
          return .failed(download: download.identifier, failure, remedy)
        } catch {
          return .refused(error)
        }
      }
    }
  }
#endif
