/// A pack of the configuration, with the key that it is made with.
package struct KeyedPack: Sendable {
  let pack: PackerConfiguration.Pack
  /// Its own key, that of all packs, or the root key from which its own is derived.
  let key: Shared<PackKey>
  let isRoot: Bool
  /// The id of the key that opens it.
  let keyID: String

  init(_ pack: PackerConfiguration.Pack, key: Shared<PackKey>, isRoot: Bool, keyID: String) {
    (self.pack, self.key, self.isRoot, self.keyID) = (pack, key, isRoot, keyID)
  }

  /// - Parameter key: the pack's own key.
  package init(_ pack: PackerConfiguration.Pack, key: Shared<PackKey>) {
    self.init(pack, key: key, isRoot: false, keyID: "\(key.key.id)")
  }

  var id: String { pack.id.text }
}

/// A pack whose source was read: everything that its bytes follow from.
struct ScannedPack: Sendable {
  let keyed: KeyedPack
  let job: PackJob
  let census: SourceCensus
  let identity: PackIdentity
  let edition: PackEdition

  var id: String { keyed.id }

  /// More bytes than the file of the pack can have. Compression adds little, and an entry takes its paths, headers and a record.
  var largestSize: UInt64 {
    edition.recorded?.size ?? (census.contentSize + census.contentSize / 8 + UInt64(census.entryCount) * 8192 + 65_536)
  }
}

/// A pack that has to be made, and why.
struct DuePack: Sendable {
  let source: ScannedPack
  let reason: String
}

/// A pack as the earlier release has it.
struct EarlierPack: Sendable {
  let release: ExistingRelease
  let record: BuildRecord.Pack
}

/// What to do for one pack.
enum PackDecision: Sendable {
  /// To take the file of the earlier release, because the caller left the pack out. Its source is not read.
  case keep(KeyedPack, EarlierPack)
  /// To take the file of the earlier release, because it is made of the same.
  case reuse(ScannedPack, EarlierPack)
  case make(DuePack)

  var keyed: KeyedPack {
    switch self {
    case .keep(let keyed, _): keyed
    case .reuse(let source, _): source.keyed
    case .make(let due): due.source.keyed
    }
  }

  /// What was read of its source. Nil if that was not read.
  var census: SourceCensus? {
    switch self {
    case .keep: nil
    case .reuse(let source, _): source.census
    case .make(let due): due.source.census
    }
  }

  var id: String { keyed.id }
  var isDue: Bool { if case .make = self { true } else { false } }

  /// The version and the content root that the pack has or gets, and SHA-256 of its file, as far as that is known; otherwise empty.
  var planned: (version: UInt64, contentRoot: [UInt8], sha256: [UInt8]) {
    switch self {
    case .keep(_, let earlier), .reuse(_, let earlier):
      (earlier.record.version, earlier.record.contentRoot, earlier.record.sha256)
    case .make(let due):
      (due.source.edition.version, due.source.identity.contentRoot, due.source.edition.recorded?.sha256 ?? [])
    }
  }
}
