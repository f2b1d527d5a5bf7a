public import Foundation

extension PackProviding {
  /// Returns the progress of a pack as Foundation counts it, for views that show a `Progress`: in thousandths of the download, finished when the pack is ready,
  /// or sealed.
  ///
  /// Cancelling it cancels the download, as ``PackProviding/cancel(_:)``.
  public func progress(of id: String) -> Progress {
    let progress = Progress(totalUnitCount: 1000)
    progress.kind = .file
    let task = Task { [weak progress, status = status(of: id)] in
      for await status in status {
        guard let progress else { return }
        switch status {
        case .absent, .waiting: break
        case .downloading(let received, let size), .playable(_, let received, let size, _):
          progress.completedUnitCount = size == 0 ? 0 : Int64(Double(min(received, size)) / Double(size) * 990)
        case .installing: progress.completedUnitCount = 995
        case .ready, .sealed:
          progress.completedUnitCount = 1000
          return
        case .failed: return
        }
      }
    }
    progress.cancellationHandler = { [weak self] in
      task.cancel()
      Task { [weak self] in try? await self?.cancel(id) }
    }
    return progress
  }
}
