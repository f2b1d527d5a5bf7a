import TestSupport

/// Work on a store, and the states that are allowed if it is stopped in the middle.
struct CrashScenario: Sendable, CustomStringConvertible {
  typealias Work = @Sendable (AssetStore, CrashSample) async throws(PackError) -> Void
  /// The allowed running versions of each pack. Nil means that no version runs.
  typealias Versions = [String: Set<UInt64?>]

  let description: String
  /// The preparation, by a process that then ends.
  let before: Work
  /// Changes the disk directly after the preparation, without the store.
  var meddling: @Sendable (MemoryDisk) -> Void = { _ in }
  /// The work that is stopped.
  let work: Work
  /// The versions that may run right after the crash.
  let found: Versions
  /// The versions that may run after the next process has repaired the store.
  let repaired: Versions
  /// The versions that may run after the work was done again.
  let done: Versions
  /// The errors that doing the work again may throw: for example, a version that failed its trial is not tried again.
  var refusals: Set<PackError.Code> = []
  /// Whether the process that is stopped is the one that did the preparation.
  var isSameProcess = false
  /// Whether the manifests offer deltas.
  var usesDeltas = false

  static let all: [CrashScenario] =
    [
      CrashScenario(
        description: "first install",
        before: { _, _ in },
        work: { (store, sample) throws(PackError) in
          try await sample.adopt(1, by: store)
          try await store.install(sample.download(CrashSample.unpacked, 1), as: CrashSample.unpacked)
          try await store.install(sample.download(CrashSample.packed, 1), as: CrashSample.packed, taking: .copying)
          for id in CrashSample.ids { try await store.activate(id, onTrial: false) }
        },
        found: both([nil, 1]), repaired: both([nil, 1]), done: both([1])),
      CrashScenario(
        description: "adoption of a manifest",
        before: { (store, sample) throws(PackError) in try await sample.release(1, to: store) },
        work: { (store, sample) throws(PackError) in try await sample.adopt(2, by: store) },
        found: both([1]), repaired: both([1]), done: both([1])),
      CrashScenario(
        description: "update of an unpacked pack, moved",
        before: { (store, sample) throws(PackError) in
          try await sample.release(1, to: store)
          try await sample.adopt(2, by: store)
        },
        work: update(CrashSample.unpacked, .moving),
        found: only(CrashSample.unpacked, [1, 2]), repaired: only(CrashSample.unpacked, [1, 2]), done: only(CrashSample.unpacked, [2])),
      CrashScenario(
        description: "update of an unpacked pack, copied",
        before: { (store, sample) throws(PackError) in
          try await sample.release(1, to: store)
          try await sample.adopt(2, by: store)
        },
        work: update(CrashSample.unpacked, .copying),
        found: only(CrashSample.unpacked, [1, 2]), repaired: only(CrashSample.unpacked, [1, 2]), done: only(CrashSample.unpacked, [2])),
      CrashScenario(
        description: "update of a packed pack, moved",
        before: { (store, sample) throws(PackError) in
          try await sample.release(1, to: store)
          try await sample.adopt(2, by: store)
        },
        work: update(CrashSample.packed, .moving),
        found: only(CrashSample.packed, [1, 2]), repaired: only(CrashSample.packed, [1, 2]), done: only(CrashSample.packed, [2])),
      CrashScenario(
        description: "update of a packed pack, copied",
        before: { (store, sample) throws(PackError) in
          try await sample.release(1, to: store)
          try await sample.adopt(2, by: store)
        },
        work: update(CrashSample.packed, .copying),
        found: only(CrashSample.packed, [1, 2]), repaired: only(CrashSample.packed, [1, 2]), done: only(CrashSample.packed, [2])),
      CrashScenario(
        description: "activation on trial",
        before: { (store, sample) throws(PackError) in
          try await sample.release(1, to: store)
          try await sample.deliver(2, to: store)
        },
        work: { (store, _) throws(PackError) in
          try await store.activate(CrashSample.unpacked)
        },
        found: only(CrashSample.unpacked, [1, 2]), repaired: both([1]), done: only(CrashSample.unpacked, [1, 2]), refusals: [.versionFailed]
      ),
      CrashScenario(
        description: "confirmation",
        before: { (store, sample) throws(PackError) in
          try await sample.release(1, to: store)
          try await sample.deliver(2, to: store)
          try await store.activate(CrashSample.unpacked)
        },
        work: confirm, found: only(CrashSample.unpacked, [1, 2]), repaired: only(CrashSample.unpacked, [1, 2]),
        done: only(CrashSample.unpacked, [1, 2]), refusals: [.staleConfirmation], isSameProcess: true),
      CrashScenario(
        description: "confirmation that removes the version before the last",
        before: { (store, sample) throws(PackError) in
          try await sample.release(1, to: store)
          try await sample.release(2, to: store)
          try await sample.deliver(3, to: store)
          try await store.activate(CrashSample.unpacked)
        },
        work: confirm, found: [CrashSample.unpacked: [2, 3], CrashSample.packed: [2]],
        repaired: [CrashSample.unpacked: [2, 3], CrashSample.packed: [2]],
        done: [CrashSample.unpacked: [2, 3], CrashSample.packed: [2]], refusals: [.staleConfirmation], isSameProcess: true),
      CrashScenario(
        description: "fallback from a trial that was not confirmed in time",
        before: { (store, sample) throws(PackError) in
          try await sample.release(1, to: store)
          try await sample.deliver(2, to: store)
          try await store.activate(CrashSample.unpacked)
        },
        work: { (store, _) throws(PackError) in
          guard let token = try await store.trial(of: CrashSample.unpacked) else { return }
          do throws(PackError) {
            try await store.confirmation(of: token)
          } catch {
            guard error.code == .notConfirmed else { throw error }
          }
        },
        found: only(CrashSample.unpacked, [1, 2]), repaired: both([1]), done: both([1]), isSameProcess: true),
      CrashScenario(
        description: "fallback from a trial that crashed",
        before: { (store, sample) throws(PackError) in
          try await sample.release(1, to: store)
          try await sample.deliver(2, to: store)
          try await store.activate(CrashSample.unpacked)
        },
        work: { (store, _) throws(PackError) in try await store.reconcile() },
        found: only(CrashSample.unpacked, [1, 2]), repaired: both([1]), done: both([1])),
      CrashScenario(
        description: "rollback",
        before: { (store, sample) throws(PackError) in
          try await sample.release(1, to: store)
          try await sample.release(2, to: store)
        },
        work: { (store, _) throws(PackError) in
          // Doing it twice would go back twice.
          guard try await store.current(CrashSample.unpacked)?.version == 2 else { return }
          try await store.rollback(CrashSample.unpacked, reason: "a test")
        },
        found: [CrashSample.unpacked: [1, 2], CrashSample.packed: [2]],
        repaired: [CrashSample.unpacked: [1, 2], CrashSample.packed: [2]],
        done: [CrashSample.unpacked: [1], CrashSample.packed: [2]]),
      CrashScenario(
        description: "purge of an earlier version",
        before: { (store, sample) throws(PackError) in
          try await sample.release(1, to: store)
          try await sample.release(2, to: store)
        },
        work: { (store, _) throws(PackError) in _ = try await store.purge(toFree: 1) },
        found: both([2]), repaired: both([2]), done: [CrashSample.unpacked: [2], CrashSample.packed: [nil, 2]]),
      CrashScenario(
        description: "purge of everything that may be removed",
        before: { (store, sample) throws(PackError) in
          try await sample.release(1, to: store)
          try await sample.release(2, to: store)
          try await store.setPreservation(1, of: CrashSample.unpacked)
        },
        work: { (store, _) throws(PackError) in _ = try await store.purge(toFree: 1 << 30) },
        found: [CrashSample.unpacked: [2], CrashSample.packed: [nil, 2]],
        repaired: [CrashSample.unpacked: [2], CrashSample.packed: [nil, 2]],
        done: [CrashSample.unpacked: [2], CrashSample.packed: [nil]]),
      CrashScenario(
        description: "removal",
        before: { (store, sample) throws(PackError) in
          try await sample.release(1, to: store)
          try await sample.release(2, to: store)
        },
        work: { (store, _) throws(PackError) in
          for id in CrashSample.ids where try await store.current(id) != nil { try await store.remove(id) }
        },
        found: both([nil, 2]), repaired: both([nil, 2]), done: both([nil])),
      CrashScenario(
        description: "opening and closing",
        before: { (store, sample) throws(PackError) in try await sample.release(1, to: store) },
        work: { (store, _) throws(PackError) in
          let opened = [try await store.open(CrashSample.unpacked), try await store.open(CrashSample.packed)]
          try await store.setPreservation(0.3, of: CrashSample.unpacked)
          withExtendedLifetime(opened) {}
        },
        found: both([1]), repaired: both([1]), done: both([1])),
      CrashScenario(
        description: "repair of many leftovers",
        before: { (store, sample) throws(PackError) in
          try await sample.release(1, to: store)
          try await sample.deliver(2, to: store)
          _ = try await store.open(CrashSample.packed)
        },
        meddling: { disk in
          disk.write([1, 2, 3], to: "/store/staging/dead-1/half/file")
          disk.write([1, 2, 3], to: "/store/staging/dead-2")
          disk.write([1, 2, 3], to: "/store/trash/dead-3/a/b")
          disk.write([1, 2, 3], to: "/store/packs/nobody@7-0123456789abcdef.pack")
          disk.write([], to: "/store/uses/core@1-0123456789abcdef~dead")
          disk.write(Array("{\"half".utf8), to: "/store/state/nobody")
        },
        work: { (store, _) throws(PackError) in try await store.reconcile() },
        found: both([1]), repaired: both([1]), done: both([1])),
    ] + deltas + rollouts

  private static let runCandidates: Work = { (store, sample) throws(PackError) in
    try await sample.offerCandidates(to: store)
    for id in CrashSample.ids { try await store.activate(id, onTrial: false) }
  }

  /// Candidates of a rollout. What is stopped needs no pack from a network.
  private static let rollouts: [CrashScenario] = [
    CrashScenario(
      description: "a candidate that begins",
      before: { (store, sample) throws(PackError) in try await sample.offerCandidates(to: store) },
      work: { (store, sample) throws(PackError) in
        try await sample.follow(.running, manifest: 2, by: store)
        for id in CrashSample.ids { try await store.confirm(try await store.activate(id)) }
      },
      found: both([1, 2]), repaired: both([1, 2]), done: both([1, 2]), refusals: [.versionFailed, .staleConfirmation]),
    CrashScenario(
      description: "a candidate that is halted",
      before: runCandidates,
      work: { (store, sample) throws(PackError) in
        try await sample.follow(.halted, manifest: 3, by: store)
        for id in CrashSample.ids { try await store.activate(id) }
      },
      found: both([1, 2]), repaired: both([1, 2]), done: both([1])),
    CrashScenario(
      description: "a candidate that becomes the stable version",
      before: runCandidates,
      work: { (store, sample) throws(PackError) in
        try await sample.follow(nil, manifest: 3, by: store)
        for id in CrashSample.ids { try await store.activate(id) }
      },
      found: both([2]), repaired: both([2]), done: both([2])),
    CrashScenario(
      description: "a purge of a candidate",
      before: runCandidates,
      work: { (store, sample) throws(PackError) in
        try await sample.follow(.running, manifest: 2, by: store)
        _ = try await store.purge(toFree: 1)
      },
      found: both([1, 2]), repaired: both([1, 2]), done: both([nil, 1, 2])),
  ]

  private static let deltas: [CrashScenario] = [
    delta("packed, moved", CrashSample.packed, .moving), delta("packed, copied", CrashSample.packed, .copying),
    delta("unpacked, moved", CrashSample.unpacked, .moving), delta("unpacked, copied", CrashSample.unpacked, .copying),
    delta("packed to unpacked", CrashSample.packed, .moving, as: .unpacked),
    delta("unpacked to packed", CrashSample.unpacked, .moving, as: .packed),
    CrashScenario(
      description: "trial and confirmation of a version that a delta makes",
      before: { (store, sample) throws(PackError) in
        try await sample.release(1, to: store)
        try await sample.deliverDeltas(2, to: store)
      },
      work: { (store, _) throws(PackError) in
        for id in CrashSample.ids { try await store.confirm(try await store.activate(id)) }
      },
      found: both([1, 2]), repaired: both([1, 2]), done: both([1, 2]), refusals: [.versionFailed], usesDeltas: true),
    CrashScenario(
      description: "confirmation that removes what a version was made from",
      before: { (store, sample) throws(PackError) in
        try await sample.release(1, to: store)
        for version in [2, 3] as [UInt64] {
          try await sample.deliverDeltas(version, to: store)
          for id in CrashSample.ids { try await store.activate(id, onTrial: version == 3) }
        }
      },
      work: { (store, _) throws(PackError) in
        for id in CrashSample.ids {
          guard let token = try await store.trial(of: id) else { throw PackError(.staleConfirmation, "there is no trial") }
          try await store.confirm(token)
        }
      },
      found: both([2, 3]), repaired: both([2, 3]), done: both([2, 3]), refusals: [.staleConfirmation], isSameProcess: true,
      usesDeltas: true),
    CrashScenario(
      description: "a full pack after a version that a delta made",
      before: { (store, sample) throws(PackError) in
        try await sample.release(1, to: store)
        try await sample.deliverDeltas(2, to: store)
        for id in CrashSample.ids { try await store.activate(id, onTrial: false) }
        try await sample.deliver(3, to: store)
      },
      work: { (store, _) throws(PackError) in
        for id in CrashSample.ids { try await store.activate(id, onTrial: false) }
        _ = try await store.purge(toFree: 1)
        _ = try await store.purge(toFree: 1)
      },
      found: both([2, 3]), repaired: both([2, 3]), done: [CrashSample.unpacked: [nil, 3], CrashSample.packed: [nil, 3]], usesDeltas: true),
    CrashScenario(
      description: "removal of versions that deltas made",
      before: { (store, sample) throws(PackError) in
        try await sample.release(1, to: store)
        try await sample.deliverDeltas(2, to: store)
        for id in CrashSample.ids { try await store.activate(id, onTrial: false) }
      },
      work: { (store, _) throws(PackError) in
        for id in CrashSample.ids where try await store.current(id) != nil { try await store.remove(id) }
      },
      found: both([nil, 2]), repaired: both([nil, 2]), done: both([nil]), usesDeltas: true),
  ]

  /// An update by a delta.
  private static func delta(_ description: String, _ id: String, _ taking: Taking, as mode: InstallMode? = nil) -> CrashScenario {
    CrashScenario(
      description: "update by a delta, \(description)",
      before: { (store, sample) throws(PackError) in
        try await sample.release(1, to: store)
        try await sample.adopt(2, by: store)
      },
      work: { (store, sample) throws(PackError) in
        try await store.install(sample.deltaDownload(id, 1), as: id, taking: taking, mode: mode)
        try await store.activate(id, onTrial: false)
      },
      found: only(id, [1, 2]), repaired: only(id, [1, 2]), done: only(id, [2]), usesDeltas: true)
  }

  private static func both(_ versions: Set<UInt64?>) -> Versions {
    [CrashSample.unpacked: versions, CrashSample.packed: versions]
  }

  /// Allows these versions of one pack, and version 1 of the other.
  private static func only(_ id: String, _ versions: Set<UInt64?>) -> Versions {
    var all = both([1])
    all[id] = versions
    return all
  }

  private static func update(_ id: String, _ taking: Taking) -> Work {
    { (store, sample) throws(PackError) in
      try await store.install(sample.download(id, 2), as: id, taking: taking)
      try await store.activate(id, onTrial: false)
    }
  }

  private static let confirm: Work = { (store, _) throws(PackError) in
    guard let token = try await store.trial(of: CrashSample.unpacked) else {
      throw PackError(.staleConfirmation, "there is no trial")
    }
    try await store.confirm(token)
  }
}

extension CrashSample {
  func manifest(_ version: UInt64) throws(PackError) -> SignedManifest {
    guard let manifest = manifests[version] else { throw PackError(.internalError, "there is no manifest \(version)") }
    return manifest
  }

  /// Adopts a manifest, and takes the shards of its catalogue.
  func adopt(_ version: UInt64, by store: AssetStore) async throws(PackError) {
    try await store.adopt(manifest(version))
    try await store.takeShards(from: Self.published)
  }

  /// Returns the path of a downloaded pack file.
  func download(_ id: String, _ version: UInt64) -> String { "/downloads/\(id)-\(version).pack" }

  /// Writes the files of all packs to their download paths, and all shards.
  func fetch(to disk: MemoryDisk) {
    writeShards(to: disk)
    for id in Self.ids {
      for (version, bytes) in packs[id] ?? [:] { disk.write(bytes, to: download(id, version)) }
      for delta in deltas[id] ?? [] { disk.write(delta.bytes, to: deltaDownload(id, delta.old)) }
    }
  }

  /// Returns the path of a downloaded delta from a version to the next one.
  func deltaDownload(_ id: String, _ old: UInt64) -> String { "/downloads/\(id)-\(old)-\(old + 1).delta" }

  /// Adopts a manifest and installs all packs that it names by the deltas from the version before.
  func deliverDeltas(_ version: UInt64, to store: AssetStore) async throws(PackError) {
    try await adopt(version, by: store)
    for id in Self.ids { try await store.install(deltaDownload(id, version - 1), as: id, taking: .copying) }
  }

  /// Adopts a manifest and installs all packs that it names.
  func deliver(_ version: UInt64, to store: AssetStore) async throws(PackError) {
    try await adopt(version, by: store)
    for id in Self.ids { try await store.install(download(id, version), as: id, taking: .copying) }
  }

  /// Delivers a version, activates it and confirms it.
  func release(_ version: UInt64, to store: AssetStore) async throws(PackError) {
    try await deliver(version, to: store)
    for id in Self.ids {
      let token = try await store.activate(id, version: version)
      try await store.confirm(token)
    }
  }
}
