/// What differs between two editions of a pack, or between two trees.
package struct PackDifference: Sendable {
  /// How the pack differs.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case changed
    case added
    case removed
    /// It has the same files, and was packed again: with another key or other settings.
    case repacked
    case unchanged
  }

  /// One of the two editions.
  package struct Edition: Hashable, Sendable {
    /// The version; nil outside a release.
    package let version: UInt64?
    /// The size of the pack as served, in bytes; nil for a directory, or if it is not known.
    package let packSize: UInt64?
    /// When it is downloaded; nil if that is not known.
    package let delivery: DeliveryClass?
  }

  /// The name of the pack; nil for trees that have none.
  package let id: String?
  package let kind: Kind
  /// Nil if it was added.
  package let before: Edition?
  /// Nil if it was removed.
  package let after: Edition?
  /// What differs in it; nil if that is not known, or if it was not read because nothing does.
  package let files: TreeChanges?
  /// Why it is not known which files differ; nil if it is known, or if none does.
  package let obstacle: String?
  /// What players who have the release before download; nil if nothing, or if that is not known.
  package let update: ReleaseUpdate.Pack?
  /// Why it is not known what players download of each file; nil if it is known, or if they download nothing.
  package let updateObstacle: String?
  /// The bytes of the pack after that belong to no file: its index, tags and header. Nil if they are not known.
  package let packRest: UInt64?
  /// The bytes of what players download that belong to no file; nil if they are not known.
  package let updateRest: UInt64?

  /// When it is downloaded, before and now, if that differs and is known.
  package var delivery: (before: DeliveryClass, after: DeliveryClass)? {
    guard let old = before?.delivery, let new = after?.delivery, old != new else { return nil }
    return (old, new)
  }

  /// Whether anything about it differs.
  package var isChanged: Bool { kind != .unchanged || delivery != nil }

  /// What it costs in bytes: to download, or if that is not known, the pack, or without a pack, what differs in it.
  package var cost: UInt64 {
    if let update { return update.size }
    guard kind != .unchanged, kind != .removed else { return 0 }
    return after?.packSize ?? files.map { TreeChanges.sum($0.changes).size } ?? 0
  }
}

/// What differs between two releases, packs or trees, and what it costs.
package struct DifferenceReport: Sendable {
  /// What was compared, for people.
  package let before: String
  package let after: String
  /// All packs, unchanged ones included: the most expensive first.
  package let packs: [PackDifference]
  /// What players of earlier releases download, newest first.
  package let downloads: [ReleaseUpdate]
  /// What is left of the budgets of app versions that players use.
  package let room: [AppRoom]
  /// Whether the release after is older than the one before, so that devices refuse it.
  package let isOutOfOrder: Bool

  /// The number of packs of one kind.
  package func count(_ kind: PackDifference.Kind) -> Int { packs.count { $0.kind == kind } }

  /// Whether it is about releases, whose packs have names.
  package var isAboutReleases: Bool { packs.contains { $0.id != nil } }

  /// The sizes of all packs as served, before and after, in bytes. Nil if one of them is not known.
  package var packSizes: (before: UInt64, after: UInt64)? {
    func sum(_ editions: [PackDifference.Edition]) -> UInt64? {
      editions.reduce(0 as UInt64?) { sum, edition in edition.packSize.flatMap { size in sum.map { $0.adding(size) } } }
    }
    guard let before = sum(packs.compactMap(\.before)), let after = sum(packs.compactMap(\.after)) else { return nil }
    return (before, after)
  }
}

// MARK: - Records

extension DifferenceReport {
  package var json: JSON {
    let counts = PackDifference.Kind.allCases.map { JSON.Member(key: $0.rawValue, value: .number(UInt64(count($0)))) }
    return [
      "type": "difference", "before": .text(before), "after": .text(after), "isOutOfOrder": .flag(isOutOfOrder), "packs": .object(counts),
      "packSizeBefore": .number(packSizes?.before), "packSizeAfter": .number(packSizes?.after),
    ]
  }
}

extension PackDifference {
  /// Sizes are in bytes. Those of the files and of the rest add up to that of the pack, and to what players download.
  package var json: JSON {
    let unchanged = files.map { files -> JSON in
      [
        "files": .number(files.unchanged.count), "size": .number(files.unchanged.size),
        "packedSize": packRest == nil ? nil : .number(files.unchanged.packedSize),
        "updateSize": updateRest == nil ? nil : .number(files.unchanged.updateSize),
      ]
    }
    return [
      "type": "pack", "id": .text(id), "change": .text(kind.rawValue), "before": before?.json, "after": after?.json,
      "obstacle": .text(obstacle), "unchanged": unchanged, "packRest": .number(packRest), "updateSize": .number(update?.size),
      "updateRest": .number(updateRest), "updateObstacle": .text(updateObstacle),
      "updateIsDelta": update.map { JSON.flag($0.isDelta) },
    ]
  }

  /// The records of the files that differ.
  package var changes: [JSON] {
    (files?.changes ?? []).map { change in
      [
        "type": "file", "pack": .text(id), "change": .text(change.kind.rawValue), "path": .text(change.path),
        "oldPath": change.kind == .renamed ? .text(change.before?.path) : nil, "kind": .text(change.after?.kind.name),
        "oldKind": .text(change.before?.kind.name), "oldSize": .number(change.before?.size), "size": .number(change.after?.size),
        "packedSize": .number(change.after?.packedSize), "updateSize": .number(change.updateSize),
      ]
    }
  }
}

extension PackDifference.Edition {
  fileprivate var json: JSON {
    ["version": .number(version), "size": .number(packSize), "delivery": .text(delivery?.rawValue)]
  }
}

extension IndexRecord.Kind {
  fileprivate var name: String {
    switch self {
    case .file: "file"
    case .executable: "executable"
    case .directory: "directory"
    }
  }
}
