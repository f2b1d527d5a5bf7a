import TestSupport

/// A client as a value: what a store does with a manifest, without files. The records are those that a device stores.
struct TrustClient {
  private(set) var embedded: TrustedKeys
  /// The keys that count now. A device makes them again from the record each time.
  private(set) var keys: TrustedKeys
  private(set) var record: [UInt8]?
  private(set) var accepted: ManifestMemory.Accepted?
  var lowestVersion: UInt64 = 0

  init(_ document: KeysDocument) throws(PackError) {
    embedded = try TrustedKeys(document)
    keys = embedded
  }

  var keysVersion: UInt64 { keys.newest?.content.version ?? 0 }

  /// Accepts a manifest at a time, or throws. Keys documents that were followed stay followed.
  mutating func take(_ document: SignedManifest, at time: Int64 = 1_800_000_000) throws(PackError) {
    let progress = keys.following(document)
    keys = progress.keys
    record = keys.record
    if let failure = progress.failure { throw failure }
    let candidate = try document.verify(trusting: keys)
    var memory = ManifestMemory(accepted, lowestVersion: lowestVersion, trusting: keys)
    try memory.accept(candidate)
    try keys.checkExpiry(at: ManifestTime(clamping: time))
    try candidate.manifest.checkExpiry(at: ManifestTime(clamping: time))
    accepted = memory.accepted
  }

  /// Takes the record from the device, as a disk that loses it does.
  mutating func loseRecord() {
    record = nil
    restart()
  }

  /// Starts again, as after a restart of the device, with what it stored.
  mutating func restart() { keys = embedded.restored(from: record) }

  /// Installs an app that embeds another keys document.
  mutating func update(embedding document: KeysDocument) throws(PackError) {
    embedded = try TrustedKeys(document)
    restart()
  }
}

extension TrustClient {
  /// Accepts a manifest, and returns the code of the error if it is refused.
  mutating func attempt(_ document: SignedManifest, at time: Int64 = 1_800_000_000) -> PackError.Code? {
    do throws(PackError) {
      try take(document, at: time)
      return nil
    } catch {
      return error.code
    }
  }
}
