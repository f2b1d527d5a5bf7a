import PackDownloads
import PackFormat
import PackManifest
import PackStore
import PackWork

/// Downloads and installs the missing packs of a request, in the task that called ``TagRequest/begin()``.
struct TagFetch: Sendable {
  let request: TagRequest
  let packs: OnDemandPacks
  let goal: OnDemandPacks.Goal

  /// The maximum number of times that missing files are fetched again. Beyond that, it is not an accident.
  static let mostFetches = 10

  private enum Message: Sendable {
    case finished(DownloadID, path: String)
    case failed(DownloadID, TransferFailure)
    case lowSpace(DownloadID, needed: UInt64)
    case offline
    /// A manifest was accepted.
    case adopted
    /// A pack was installed, by this or another request.
    case installed(InstalledPack)
  }

  /// Downloads and installs packs, and marks them as in use.
  ///
  /// - Returns: The marks by pack name.
  func run(_ missing: [ManifestPack]) async throws(PackError) -> [String: UseMark] {
    try await packs.store.checkInstallable()
    let wanted = Dictionary(uniqueKeysWithValues: missing.map { (DownloadID(onDemand: $0), $0) })
    request.meter.need(missing)
    let (messages, inbox) = AsyncStream.makeStream(of: Message.self)
    // The listeners are registered before the first check, so that no event is missed.
    let downloads = packs.queue.hub.handle { event in
      if let message = Self.message(event, wanted, request.meter) { inbox.yield(message) }
    }
    let changes = packs.store.hub.handle { event in
      switch event {
      case .adopted: inbox.yield(.adopted)
      case .installed(let pack): inbox.yield(.installed(pack))
      default: break
      }
    }
    let steps = packs.steps.handle { request.meter.installing($0) }
    defer { withExtendedLifetime((downloads, changes, steps)) {} }
    var spent: Set<DownloadID> = []
    do throws(PackError) {
      // A manifest that was accepted before the listeners were registered was not reported.
      try await packs.check(goal, of: request.tags, fetchingFor: request)
      try await packs.checkRoom(for: missing)
      return try await work(wanted, messages, inbox, &spent)
    } catch {
      for id in wanted.keys { await packs.leave(request, id, isSpent: spent.contains(id)) }
      throw error
    }
  }

  private static func message(_ event: DownloadEvent, _ wanted: [DownloadID: ManifestPack], _ meter: TagMeter) -> Message? {
    switch event {
    case .began(let id, let offset):
      meter.downloaded(id, offset)
      return nil
    case .progress(let id, let received, _):
      meter.downloaded(id, received)
      return nil
    case .finished(let id, let path): return wanted[id] == nil ? nil : .finished(id, path: path)
    case .failed(let id, let failure):
      // Each download has its own group, which identifies it even if its id could not be read.
      return wanted.keys.first { $0 == id || (id.id.isEmpty && $0.group == id.group) }.map { .failed($0, failure) }
    case .lowSpace(let id, let needed, _): return wanted[id] == nil ? nil : .lowSpace(id, needed: needed)
    case .offline: return .offline
    case .retrying, .forgotten, .online: return nil
    }
  }

  private func work(
    _ wanted: [DownloadID: ManifestPack], _ messages: AsyncStream<Message>, _ inbox: AsyncStream<Message>.Continuation,
    _ spent: inout Set<DownloadID>
  ) async throws(PackError) -> [String: UseMark] {
    var marks: [String: UseMark] = [:]
    var fetchedAgain = 0
    for pack in goal.packs {
      let id = DownloadID(onDemand: pack)
      guard wanted[id] != nil else { continue }
      switch try await packs.join(request, pack) {
      case .installed(let mark): await settle(id, pack, mark, &marks)
      case .finished(let path): inbox.yield(.finished(id, path: path))
      case .waiting(let received): if received > 0 { request.meter.downloaded(id, received) }
      }
    }
    if marks.count == wanted.count { return marks }
    for await message in messages {
      switch message {
      case .finished(let id, let path):
        guard let pack = wanted[id], marks[pack.id] == nil else { continue }
        request.meter.downloaded(id, pack.size)
        do throws(PackError) {
          await settle(id, pack, try await install(pack, id, path), &marks)
        } catch {
          // The file was removed, or it was installed and the pack removed again.
          if error.code == .missingInput || error.code == .purged, fetchedAgain < Self.mostFetches {
            fetchedAgain += 1
            try await packs.fetchAgain(id)
            continue
          }
          if error.isFaultOfFile { spent.insert(id) }
          throw error
        }
      case .installed(let installed):
        guard let (id, pack) = wanted.first(where: { $1.id == installed.id && $1.sha256 == installed.sha256 }), marks[pack.id] == nil else {
          continue
        }
        if let mark = try await packs.store.hold([pack]).marks[pack.id] {
          await settle(id, pack, mark, &marks)
        } else {
          // The pack was removed again, and its file was moved away by the installation.
          try await packs.fetchAgain(id)
        }
      case .failed(let id, let failure):
        guard let pack = wanted[id], marks[pack.id] == nil else { continue }
        throw failure.error(of: pack.id)
      case .lowSpace(let id, let needed):
        try await packs.makeRoom(request, id, needed: needed)
      case .offline:
        guard !request.waitsForNetwork else { continue }
        // Packs whose files are complete need no network.
        for pack in goal.packs where wanted[DownloadID(onDemand: pack)] != nil && marks[pack.id] == nil {
          guard try await packs.queue.file(of: DownloadID(onDemand: pack)) == nil else { continue }
          throw TransferFailure.offline.error(of: pack.id)
        }
      case .adopted:
        try await packs.check(goal, of: request.tags, fetchingFor: request)
      }
      if marks.count == wanted.count { return marks }
    }
    throw PackError(.cancelled, "cancelled")
  }

  private func settle(_ id: DownloadID, _ pack: ManifestPack, _ mark: UseMark, _ marks: inout [String: UseMark]) async {
    marks[pack.id] = mark
    request.meter.installed(id)
    await packs.leave(request, id, isSpent: true)
  }

  private func install(_ pack: ManifestPack, _ id: DownloadID, _ path: String) async throws(PackError) -> UseMark {
    let note = Monitor(InstallNote())
    do throws(PackError) {
      _ = try await packs.store.install(
        path, as: pack.id, taking: .moving, mode: nil, progress: { [steps = packs.steps] in steps.tell(InstallStep(id: id, progress: $0)) },
        note: note)
    } catch {
      // If a new manifest has other bytes for the pack, that is the error to report, not that the file does not match.
      if error.code != .cancelled { try await packs.check(goal, of: request.tags) }
      if error.isLackOfSpace { await packs.tellLack(of: pack, file: path) }
      throw error
    }
    let (mark, removed) = note.withLock { ($0.mark, $0.removed) }
    if !removed.isEmpty { await packs.tellRoom(for: pack, removed) }
    if let mark { return mark }
    // Another request or process had installed the pack already.
    let holding = try await packs.store.hold([pack])
    if let failure = holding.failure { throw failure }
    guard let mark = holding.marks[pack.id] else {
      throw PackError(.purged, "pack '\(pack.id)' was removed right after it was installed", advice: .tryAgain)
    }
    return mark
  }
}

extension PackError {
  /// Whether the downloaded file itself is wrong, so that trying it again cannot help.
  fileprivate var isFaultOfFile: Bool {
    switch code {
    case .truncated, .wrongPack, .digestMismatch, .authenticationFailed, .damagedHeader, .damagedPayload, .damagedArchive, .notAPack: true
    default: false
    }
  }
}
