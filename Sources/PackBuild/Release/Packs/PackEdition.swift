/// The version that a pack gets. An unchanged pack keeps its released version and bytes; a changed pack gets the next version.
struct PackEdition: Hashable, Sendable {
  /// The version.
  let version: UInt64
  /// The released pack with the same content, key and settings, whose bytes the new pack must have. Nil if there is none.
  let recorded: ReleaseLock.Pack?

  init(after recorded: ReleaseLock.Pack?, _ identity: PackIdentity) throws(PackError) {
    guard let recorded else {
      version = 1
      self.recorded = nil
      return
    }
    // A pack that was removed and comes back gets a new version: clients may have deleted the earlier one.
    // So does one that was withdrawn: no device takes that version any more.
    if !recorded.isRemoved, recorded.standing != .withdrawn, recorded.contentRoot == identity.contentRoot, recorded.keyID == identity.keyID,
      // A published manifest does not say the settings.
      recorded.settings == identity.settings || recorded.settings.isEmpty,
      // Devices that have it would keep it as before.
      recorded.install == nil || recorded.install == identity.install
    {
      version = recorded.version
      self.recorded = recorded
    } else {
      version = try Self.version(after: recorded)
      self.recorded = nil
    }
  }

  static func version(after recorded: ReleaseLock.Pack) throws(PackError) -> UInt64 {
    guard recorded.version < Limits.packVersion else {
      throw PackError(.limitExceeded, "pack '\(recorded.id)' is recorded with version \(recorded.version), which is the highest possible")
    }
    return recorded.version + 1
  }

  /// Returns why a pack of an earlier build cannot be reused, or nil if it can.
  func objection(to made: BuildRecord.Pack, _ identity: PackIdentity) -> String? {
    if made.contentRoot != identity.contentRoot { return "content changed" }
    if made.keyID != identity.keyID { return "another key" }
    if made.settings != identity.settings { return "other settings" }
    if let recorded {
      let isReleased = made.version == recorded.version && made.sha256 == recorded.sha256
      let replacesReleased = made.version == recorded.version + 1 && made.differsFrom == recorded.sha256
      return isReleased || replacesReleased ? nil : "differs from the released version \(recorded.version)"
    }
    return made.version == version && made.differsFrom == nil ? nil : "becomes version \(version)"
  }

  /// Returns why a pack of an earlier build, whose source is not read, cannot follow the released pack. Returns nil if it can.
  static func problem(ofKept made: BuildRecord.Pack, after recorded: ReleaseLock.Pack?) -> String? {
    guard let recorded else { return nil }
    if made.sha256 == recorded.sha256, !recorded.isRemoved {
      return made.version == recorded.version ? nil : "has version \(made.version), but was released as version \(recorded.version)"
    }
    return made.version > recorded.version
      ? nil : "has version \(made.version), but another one was released as version \(recorded.version)"
  }
}
