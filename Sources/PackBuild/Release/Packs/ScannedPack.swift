/// A pack of the configuration, with the key that it is made with.
package struct KeyedPack: Sendable {
  let pack: PackerConfiguration.Pack
  /// Its own key, that of all packs, or the root key from which its own is derived.
  let key: Shared<PackKey>
  let isRoot: Bool
  /// The id of the pack's key, or the one that it is taken to be made with.
  private let ownID: String
  /// Whether that is the one of its last version, whatever the key is.
  private let isAssumed: Bool

  init(_ pack: PackerConfiguration.Pack, key: Shared<PackKey>, isRoot: Bool, keyID: String, isAssumed: Bool = false) {
    (self.pack, self.key, self.isRoot, ownID, self.isAssumed) = (pack, key, isRoot, keyID, isAssumed)
  }

  /// Returns the same pack as if it had been made with another key.
  func assuming(keyID: String?) -> KeyedPack {
    keyID.map { KeyedPack(pack, key: key, isRoot: isRoot, keyID: $0, isAssumed: true) } ?? self
  }

  /// Returns the id of the key that a version is made with.
  ///
  /// - Throws: ``PackError/Code/noKey`` if each version has a key of its own, and there is no root key.
  func keyID(ofVersion version: UInt64) throws(PackError) -> String {
    guard pack.hasVersionKeys, !isAssumed else { return ownID }
    guard isRoot else {
      throw PackError(
        .noKey, "each version of pack '\(pack.id)' has a key of its own, which only the root key leads to",
        hint: "make it on the machine with the root key")
    }
    return "\(try key.key.editionKey(forPackID: PackID.bytes(for: pack.id), version: version).id)"
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
  /// What its next version is made of.
  let identity: PackIdentity
  let edition: PackEdition

  var id: String { keyed.id }

  /// Returns what a version is made of.
  func identity(ofVersion version: UInt64) throws(PackError) -> PackIdentity {
    var identity = identity
    identity.keyID = try keyed.keyID(ofVersion: version)
    return identity
  }

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
