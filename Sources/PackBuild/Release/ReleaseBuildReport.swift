/// The result of a ``ReleaseBuild``.
package struct ReleaseBuildReport: Sendable {
  /// The result for one pack.
  package struct Item: Sendable {
    /// How the pack was made.
    package enum Action: String, Hashable, Sendable {
      /// It was packed, or in a trial run would be.
      case packed
      /// It is the file of the earlier build, because nothing changed since.
      case reused
      /// It comes from the cache that machines share.
      case cached
      /// It is the file of the earlier build, because the caller left it out of the build. Its source was not read.
      case kept
    }

    /// The name it is published under.
    package let id: String
    /// The pack version.
    package let version: UInt64
    /// How the pack was made.
    package let action: Action
    /// Why it was packed, in a few words. Nil if it was not packed.
    package let reason: String?
    /// The sum of the sizes of its files in bytes.
    package let contentSize: UInt64
    /// The manifest's entry. Nil in a trial run.
    package var entry: ManifestPack?
    /// The paths in its source that are not in the pack. Empty if its source was not read.
    package let omitted: [OmittedPath]
  }

  /// A delta from an edition of a pack that players may have, or why there is none.
  package struct Update: Hashable, Sendable {
    /// What the build did.
    package enum Action: String, Hashable, Sendable {
      /// It was made.
      case made
      /// It is the file of the earlier build.
      case reused
      /// It comes from the cache that machines share.
      case cached
      /// There is none, and players of the edition download the full pack.
      case omitted
      /// A trial run: a build would make it, if it is worth it.
      case planned
    }

    /// The name of the pack.
    package let id: String
    /// The version of the pack that players have.
    package let version: UInt64
    /// The manifest version of the newest release that had it. Nil if it is the version of another pack in this release.
    package let manifest: UInt64?
    /// The name of the other pack from which the delta is; nil if it is an edition of the same pack.
    package let basePack: String?
    /// The content root of the edition, 32 bytes.
    package let base: [UInt8]
    /// What the build did.
    package let action: Action
    /// Why there is no delta, in a few words. Nil if there is one.
    package let reason: String?
    /// The name of the file that a delta would be made from and that is missing. Nil if nothing is missing.
    package let missingFile: String?
    /// The size of the delta in bytes, also of one that is not worth it. Nil if it was not made.
    package let size: UInt64?
    /// The size of the full pack in bytes. Nil in a trial run.
    package let packSize: UInt64?

    /// The size of the delta in thousandths of the full pack; nil if it was not made.
    package var permille: UInt64? {
      // A pack has at most 2^40 bytes, and at least those of its header.
      guard let size, let packSize else { return nil }
      return size * 1000 / packSize
    }
  }

  /// A note or warning that does not stop the build.
  package struct Remark: Hashable, Sendable {
    /// Whether it is a warning, not only a note.
    package let isWarning: Bool
    /// The message, for people.
    package let message: String
    /// What to do about it, if anything.
    package let hint: String?

    static func note(_ message: String, hint: String? = nil) -> Remark { Remark(isWarning: false, message: message, hint: hint) }
    static func warning(_ message: String, hint: String? = nil) -> Remark { Remark(isWarning: true, message: message, hint: hint) }
  }

  /// What differs from the last release.
  package struct Change: Hashable, Sendable {
    /// The manifest version of the last release.
    package let manifest: UInt64
    /// The numbers of packs. One that was packed again has the same files, but another key or other settings.
    package let changed: Int
    package let repacked: Int
    package let added: Int
    package let removed: Int

    init(from last: ReleaseLock.Release, to entries: [ManifestPack]) {
      let before = Dictionary(last.packs.filter { !$0.isRemoved }.map { ($0.id, $0) }) { first, _ in first }
      manifest = last.manifestVersion
      added = entries.count { before[$0.id] == nil }
      changed = entries.count { entry in before[entry.id].map { $0.contentRoot != entry.contentRoot } ?? false }
      repacked = entries.count { entry in before[entry.id].map { $0.contentRoot == entry.contentRoot && $0.sha256 != entry.sha256 } ?? false
      }
      removed = before.count - (entries.count - added)
    }
  }

  /// The parts of a release besides its packs.
  package struct Release: Sendable {
    /// The manifest.
    package let manifest: Manifest
    /// The size of its document in bytes.
    package let manifestSize: UInt64
    /// The number of shards of its catalogue.
    package let shards: Int
    /// Whether it equals the manifest of the earlier build byte for byte.
    package let isManifestUnchanged: Bool
    /// The ids of the keys that it is signed with, ascending.
    package let signers: [String]
    /// The install budget for the app's Info.plist.
    package let budget: ReleaseBudget
    /// The size that the budget reserves for the manifest, in bytes.
    package let manifestCeiling: UInt64
  }

  /// The path of the release.
  package let output: String
  /// The packs, in ascending order of their ids.
  package let items: [Item]
  /// The deltas to the packs, newest editions first, in the order of ``items``.
  package let updates: [Update]
  /// What players of earlier releases download, newest first. Empty in a trial run.
  package let downloads: [ReleaseUpdate]
  /// What differs from the last release. Nil in a trial run, and if nothing was released.
  package let change: Change?
  /// What is left of the budgets of app versions that players use. Empty in a trial run.
  package let room: [AppRoom]
  /// The release. Nil in a trial run.
  package let release: Release?
  /// Notes and warnings.
  package let remarks: [Remark]
}

extension ReleaseBuildReport {
  /// What a player who has nothing downloads without asking. Nil in a trial run.
  package var firstDownload: ReleaseUpdate? {
    release.map { _ in ReleaseUpdate(from: 0, having: [], to: items.compactMap(\.entry)) }
  }
}

// MARK: Records

extension ReleaseBuildReport {
  /// The record of the whole build.
  package var json: JSON {
    let packed = items.count { $0.action == .packed }
    guard let release else {
      return ["type": "dry-run", "output": .text(output), "packs": .number(items.count), "packed": .number(packed)]
    }
    return [
      "type": "build", "output": .text(output), "packs": .number(items.count), "packed": .number(packed),
      "manifestVersion": .number(release.manifest.version), "manifestSize": .number(release.manifestSize),
      "isManifestUnchanged": .flag(release.isManifestUnchanged), "changed": .number(change?.changed), "added": .number(change?.added),
      "removed": .number(change?.removed), "repacked": .number(change?.repacked), "signers": .texts(release.signers),
      "expires": .text(release.manifest.expires.description), "firstDownload": .number(firstDownload?.sizeWithApp),
      "budget": release.budget.install.record,
      "peakDisk": .number(release.budget.peakDisk),
    ]
  }
}

extension ReleaseBuildReport.Item {
  /// Sizes are in bytes.
  package var json: JSON {
    [
      "type": "pack", "id": .text(id), "version": .number(version), "action": .text(action.rawValue), "reason": .text(reason),
      "contentSize": .number(contentSize), "size": .number(entry?.size), "sizeOnDevice": .number(entry?.sizeOnDevice),
      "largestFrame": .number(entry?.maxFrame), "url": .text(entry?.url), "keyID": .text(entry?.keyID),
    ]
  }
}

extension ReleaseBuildReport.Update {
  /// A delta, or why there is none. Sizes are in bytes.
  package var json: JSON {
    [
      "type": "update", "pack": .text(id), "fromPack": .text(basePack), "fromVersion": .number(version), "fromManifest": .number(manifest),
      "baseRoot": .text(base.hex), "action": .text(action.rawValue), "reason": .text(reason), "size": .number(size),
      "packSize": .number(packSize), "permille": .number(permille),
    ]
  }
}
