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

  private enum End {
    /// All packs are installed.
    case installed([String: UseMark])
    /// A delta cannot be used, and its pack is to be fetched as a whole.
    case unusable(DownloadID)
  }

  /// Downloads and installs packs, and marks them as in use. A pack comes as a delta if that takes fewer bytes, and as a whole if the delta fails.
  ///
  /// - Returns: The marks by pack name.
  func run(_ missing: [ManifestPack]) async throws(PackError) -> [String: UseMark] {
    try await packs.store.checkInstallable()
    var files = try await packs.files(of: missing)
    while true {
      switch try await attempt(missing, files) {
      case .installed(let marks): return marks
      case .unusable(let delta):
        files[delta.id] = nil
        request.meter.begin()
      }
    }
  }

  /// - Parameter files: The entries of packs that come as deltas, with the values of the delta's file, by id.
  private func attempt(_ missing: [ManifestPack], _ files: [String: ManifestPack]) async throws(PackError) -> End {
    let wanted = Dictionary(uniqueKeysWithValues: missing.map { (DownloadID(onDemand: files[$0.id] ?? $0), $0) })
    request.meter.need(missing.map { files[$0.id] ?? $0 })
    let (messages, inbox) = AsyncStream.makeStream(of: Message.self)
    // The listeners are registered before the first check, so that no event is missed.
    let downloads = packs.queue.hub.handle { event in
      if let message = Self.message(event, wanted, request.meter) { inbox.yield(message) }
    }
    let changes = packs.store.hub.handle { event in
      switch event {
      case .adopted: inbox.yield(.adopted)
      case .installed(let pack, _): inbox.yield(.installed(pack))
      default: break
      }
    }
    let steps = packs.steps.handle { request.meter.installing($0) }
    defer { withExtendedLifetime((downloads, changes, steps)) {} }
    var spent: Set<DownloadID> = []
    do throws(PackError) {
      // A manifest that was accepted before the listeners were registered was not reported.
      try await packs.check(goal, of: request.tags, fetchingFor: request)
      try await packs.checkRoom(for: missing.map { files[$0.id] ?? $0 })
      let end = try await work(wanted, files, messages, inbox, &spent)
      if case .unusable(let delta) = end {
        for id in wanted.keys { await packs.leave(request, id, isSpent: id == delta || spent.contains(id)) }
      }
      return end
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
    _ wanted: [DownloadID: ManifestPack], _ files: [String: ManifestPack], _ messages: AsyncStream<Message>,
    _ inbox: AsyncStream<Message>.Continuation, _ spent: inout Set<DownloadID>
  ) async throws(PackError) -> End {
    var marks: [String: UseMark] = [:]
    var fetchedAgain = 0
    for pack in goal.packs {
      let file = files[pack.id] ?? pack
      let id = DownloadID(onDemand: file)
      guard wanted[id] != nil else { continue }
      switch try await packs.join(request, pack, file) {
      case .installed(let mark): await settle(id, pack, mark, &marks)
      case .finished(let path): inbox.yield(.finished(id, path: path))
      case .waiting(let received): if received > 0 { request.meter.downloaded(id, received) }
      }
    }
    if marks.count == wanted.count { return .installed(marks) }
    for await message in messages {
      switch message {
      case .finished(let id, let path):
        guard let pack = wanted[id], marks[pack.id] == nil else { continue }
        request.meter.downloaded(id, (files[pack.id] ?? pack).size)
        do throws(PackError) {
          await settle(id, pack, try await install(pack, id, path), &marks)
        } catch {
          // The file was removed, or it was installed and the pack removed again.
          if error.code == .missingInput || error.code == .purged, fetchedAgain < Self.mostFetches {
            fetchedAgain += 1
            try await packs.fetchAgain(id)
            continue
          }
          if files[pack.id] != nil, error.isFaultOfFile || error.code == .wrongBase { return .unusable(id) }
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
        if files[pack.id] != nil, failure.isFaultOfServer { return .unusable(id) }
        throw failure.error(of: pack.id)
      case .lowSpace(let id, let needed):
        try await packs.makeRoom(request, id, needed: needed)
      case .offline:
        guard !request.waitsForNetwork else { continue }
        // Packs whose files are complete need no network.
        for (id, pack) in wanted.sorted(by: { $0.value.id < $1.value.id }) where marks[pack.id] == nil {
          guard try await packs.queue.file(of: id) == nil else { continue }
          throw TransferFailure.offline.error(of: pack.id)
        }
      case .adopted:
        try await packs.check(goal, of: request.tags, fetchingFor: request)
      }
      if marks.count == wanted.count { return .installed(marks) }
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

extension TransferFailure {
  /// Whether the server has no such file, or another one. A pack whose delta is missing may still be there as a whole.
  fileprivate var isFaultOfServer: Bool {
    switch self {
    case .status, .redirect, .malformedResponse, .wrongSize, .wrongDigest: true
    default: false
    }
  }
}
