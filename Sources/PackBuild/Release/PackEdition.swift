import PackFormat
import PackManifest

/// Which version a pack gets: what went out keeps its version and its bytes, and what differs gets the next one.
struct PackEdition: Hashable, Sendable {
  /// The version.
  let version: UInt64
  /// The pack that went out with the same content, key and settings, whose bytes these must be; nil where there is none.
  let recorded: ReleaseLock.Pack?

  init(
    after recorded: ReleaseLock.Pack?, contentRoot: [UInt8], keyID: String, settings: String
  ) throws(PackError) {
    guard let recorded else {
      version = 1
      self.recorded = nil
      return
    }
    // A pack that went away and comes back gets a version of its own: clients may have let go of the earlier one.
    if !recorded.isRemoved, recorded.contentRoot == contentRoot, recorded.keyID == keyID, recorded.settings == settings {
      version = recorded.version
      self.recorded = recorded
    } else {
      version = try Self.version(after: recorded)
      self.recorded = nil
    }
  }

  static func version(after recorded: ReleaseLock.Pack) throws(PackError) -> UInt64 {
    guard recorded.version < Limits.packVersion else {
      throw PackError(.limitExceeded, "pack '\(recorded.id)' is recorded with version \(recorded.version), and there is none above it")
    }
    return recorded.version + 1
  }

  /// Why a pack of an earlier build cannot be taken as it is; nil where it can.
  func objection(to made: BuildRecord.Pack, contentRoot: [UInt8], keyID: String, settings: String) -> String? {
    if made.contentRoot != contentRoot { return "content changed" }
    if made.keyID != keyID { return "another key" }
    if made.settings != settings { return "other settings" }
    if let recorded {
      let isReleased = made.version == recorded.version && made.sha256 == recorded.sha256
      let replacesReleased = made.version == recorded.version + 1 && made.differsFrom == recorded.sha256
      return isReleased || replacesReleased ? nil : "not the one that went out as version \(recorded.version)"
    }
    return made.version == version && made.differsFrom == nil ? nil : "becomes version \(version)"
  }

  /// Whether a pack that was taken from dist without a look at its source may stand in a manifest after what went out.
  static func problem(ofKept made: BuildRecord.Pack, after recorded: ReleaseLock.Pack?) -> String? {
    guard let recorded else { return nil }
    if made.sha256 == recorded.sha256, !recorded.isRemoved {
      return made.version == recorded.version ? nil : "has version \(made.version), and went out as version \(recorded.version)"
    }
    return made.version > recorded.version
      ? nil : "has version \(made.version), and another one went out as version \(recorded.version)"
  }
}
