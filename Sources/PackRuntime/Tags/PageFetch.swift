/// Downloads pages of the manifest for a request, in the task that called ``TagRequest/begin()``. Requests for the same page share its download.
struct PageFetch: Sendable {
  let request: TagRequest
  let packs: OnDemandPacks
  /// The manifest's URL for files.
  let base: String

  private enum Message: Sendable {
    case finished(DownloadID, path: String)
    case failed(DownloadID, TransferFailure)
    case lowSpace(DownloadID, needed: UInt64, free: UInt64)
    case offline
  }

  /// Downloads pages, checks them, and keeps them.
  ///
  /// - Throws: ``PackError/Code/offline``, ``PackError/Code/downloadFailed``, ``PackError/Code/digestMismatch`` or ``PackError/Code/wrongPack`` if the
  ///   server has other bytes, ``PackError/Code/noSpace``, ``PackError/Code/cancelled``, or an error of the queue.
  func run(_ pages: [PageReference]) async throws(PackError) {
    var open: [DownloadID: PageReference] = [:]
    for page in pages { open[DownloadID(onDemand: ManifestPack(page: page, base: base))] = page }
    let (messages, inbox) = AsyncStream.makeStream(of: Message.self)
    // The listener is registered before the first check, so that no event is missed.
    let downloads = packs.queue.hub.handle { [wanted = Set(open.keys)] event in
      switch event {
      case .finished(let id, let path): if wanted.contains(id) { inbox.yield(.finished(id, path: path)) }
      case .failed(let id, let failure):
        if let id = wanted.first(where: { $0 == id || (id.id.isEmpty && $0.group == id.group) }) { inbox.yield(.failed(id, failure)) }
      case .lowSpace(let id, let needed, let free): if wanted.contains(id) { inbox.yield(.lowSpace(id, needed: needed, free: free)) }
      case .offline: inbox.yield(.offline)
      case .began, .progress, .retrying, .forgotten, .online: break
      }
    }
    defer { withExtendedLifetime(downloads) {} }
    var fetchedAgain = 0
    do throws(PackError) {
      for page in pages {
        let id = DownloadID(onDemand: ManifestPack(page: page, base: base))
        let entry = ManifestPack(page: page, base: base)
        guard case .finished(let path) = try await packs.join(request, entry, entry) else { continue }
        inbox.yield(.finished(id, path: path))
      }
      for await message in messages {
        switch message {
        case .finished(let id, let path):
          guard let page = open[id] else { continue }
          guard try await keep(path, as: page, id, &fetchedAgain) else { continue }
          open[id] = nil
          await packs.leave(request, id, isSpent: true)
        case .failed(let id, let failure): if open[id] != nil { throw failure.error(of: id.id) }
        case .lowSpace(let id, let needed, let free):
          if open[id] != nil { throw TransferFailure.noSpace(needed: needed, free: free).error(of: id.id) }
        case .offline:
          guard !request.waitsForNetwork else { continue }
          for id in open.keys {
            guard try await packs.queue.file(of: id) == nil else { continue }
            throw TransferFailure.offline.error(of: id.id)
          }
        }
        if open.isEmpty { return }
      }
      throw PackError(.cancelled, "cancelled")
    } catch {
      for id in open.keys { await packs.leave(request, id, isSpent: false) }
      throw error
    }
  }

  /// - Returns: Whether the page is kept. Otherwise it is fetched again, because its file is gone.
  private func keep(_ path: String, as page: PageReference, _ id: DownloadID, _ fetchedAgain: inout Int) async throws(PackError) -> Bool {
    do throws(PackError) {
      try await WorkerPool.settled { [folder = packs.store.pages] () throws(PackError) in
        try folder.keep(try SystemFiles().contents(of: path, limit: Int(page.size)), as: page)
      }
      return true
    } catch {
      guard error.code == .missingInput, fetchedAgain < TagFetch.mostFetches else { throw error }
      // Another request may have kept the page.
      if try await WorkerPool.settled({ [folder = packs.store.pages] () throws(PackError) in try folder.intact(page) }) != nil {
        return true
      }
      fetchedAgain += 1
      try await packs.fetchAgain(id)
      return false
    }
  }
}
