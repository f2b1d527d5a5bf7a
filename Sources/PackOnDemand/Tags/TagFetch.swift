import PackDownloads
import PackFormat
import PackManifest
import PackStore
import PackWork

/// Brings what a request misses onto the device: one beginning of a request, in the task that waits for it.
struct TagFetch: Sendable {
  let request: TagRequest
  let packs: OnDemandPacks
  let goal: OnDemandPacks.Goal

  /// How often files are fetched again that went missing: more often it is no accident.
  private static let mostFetches = 10

  private enum Message: Sendable {
    case finished(DownloadID, path: String)
    case failed(DownloadID, TransferFailure)
    case lowSpace(DownloadID, needed: UInt64)
    case offline
    /// A manifest was accepted.
    case adopted
    /// Somebody installed something.
    case installed(InstalledPack)
  }

  /// Downloads and installs packs, and keeps them in use.
  ///
  /// - Returns: what keeps them, by their names.
  func run(_ missing: [ManifestPack]) async throws(PackError) -> [String: UseMark] {
    try await packs.store.checkInstallable()
    let wanted = Dictionary(uniqueKeysWithValues: missing.map { (DownloadID(onDemand: $0), $0) })
    request.meter.need(missing)
    let (messages, inbox) = AsyncStream.makeStream(of: Message.self)
    // Nothing may be missed, so this comes before the first look at how things are.
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
      // What was adopted since the goal was set was not heard of.
      try await packs.check(goal, of: request.tags)
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
      // Each has a group of its own, which tells it where its id could not be read.
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
          // Somebody took the file away, or installed it and removed it again.
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
          // It was removed again, and the file with it.
          try await packs.fetchAgain(id)
        }
      case .failed(let id, let failure):
        guard let pack = wanted[id], marks[pack.id] == nil else { continue }
        throw failure.error(of: pack.id)
      case .lowSpace(let id, let needed):
        try await packs.makeRoom(request, id, needed: needed)
      case .offline:
        guard !request.waitsForNetwork else { continue }
        // What has come needs none.
        for pack in goal.packs where wanted[DownloadID(onDemand: pack)] != nil && marks[pack.id] == nil {
          guard try await packs.queue.file(of: DownloadID(onDemand: pack)) == nil else { continue }
          throw TransferFailure.offline.error(of: pack.id)
        }
      case .adopted:
        try await packs.check(goal, of: request.tags)
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
      // Where another manifest names something else under the same name, that is the reason, and not that the file is another one.
      if error.code != .cancelled { try await packs.check(goal, of: request.tags) }
      if error.isLackOfSpace { await packs.tellLack(of: pack, file: path) }
      throw error
    }
    let (mark, removed) = note.withLock { ($0.mark, $0.removed) }
    if !removed.isEmpty { await packs.tellRoom(for: pack, removed) }
    if let mark { return mark }
    // Somebody else had installed it.
    let holding = try await packs.store.hold([pack])
    if let failure = holding.failure { throw failure }
    guard let mark = holding.marks[pack.id] else {
      throw PackError(.purged, "pack '\(pack.id)' was removed as soon as it was installed", advice: .tryAgain)
    }
    return mark
  }
}

extension PackError {
  /// Whether what is wrong is the file that came, so that it is of no use to try it again.
  fileprivate var isFaultOfFile: Bool {
    switch code {
    case .truncated, .wrongPack, .digestMismatch, .authenticationFailed, .damagedHeader, .damagedPayload, .damagedArchive, .notAPack: true
    default: false
    }
  }
}
