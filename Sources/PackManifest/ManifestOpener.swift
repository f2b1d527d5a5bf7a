/// What an entry says of the file that opens its edition (FORMAT.md §9.10).
package struct ManifestOpener: Hashable, Sendable {
  /// The time before which the file is not published; nil if it is published with the release. Only a hint: what opens the edition is the file.
  package var opens: ManifestTime?
  /// The exact size of the file in bytes.
  package var size: UInt64
  /// The SHA-256 of the file, 32 bytes.
  package var sha256: [UInt8]

  package init(opens: ManifestTime? = nil, size: UInt64, sha256: [UInt8]) {
    (self.opens, self.size, self.sha256) = (opens, size, sha256)
  }

  /// Makes what an entry says of an opener.
  package init(of opener: Opener, opens: ManifestTime?, backend: any CryptoBackend = CryptoBackends.standard) throws(PackError) {
    self.init(opens: opens, size: UInt64(opener.bytes.count), sha256: try backend.digest(of: opener.bytes.byteSpan))
  }

  /// The most bytes of an opener, so that a client can fetch it into memory.
  package static let largestSize: UInt64 = 4096

  /// Reads the file that an entry names.
  ///
  /// - Throws: ``PackError/Code/digestMismatch`` if it is another file, ``PackError/Code/wrongPack`` if it is for another edition, or the errors of
  ///   ``PackCrypto/Opener/init(parsing:)``.
  package func read(
    _ bytes: [UInt8], of entry: ManifestPack, backend: any CryptoBackend = CryptoBackends.standard
  ) throws(PackError) -> Opener {
    guard UInt64(bytes.count) == size, try backend.digest(of: bytes.byteSpan) == sha256 else {
      throw PackError(
        .digestMismatch, "opener of pack '\(entry.id)' is not the one that the manifest names", advice: .fetchAgain)
    }
    let opener = try Opener(parsing: bytes)
    guard try opener.edition == entry.edition(backend: backend) else {
      throw PackError(.wrongPack, "opener is for another edition than version \(entry.version) of pack '\(entry.id)'", advice: .fetchAgain)
    }
    return opener
  }

  /// Returns the faults of what an entry says of its opener, as texts.
  func faults(in pack: ManifestPack) -> [String] {
    var faults: [String] = []
    if sha256.count != 32 { faults.append("sha256 of its opener is \(sha256.count) bytes, not 32") }
    if !(1...Self.largestSize).contains(size) { faults.append("opener is \(size) bytes, which none is") }
    if pack.install != .packed { faults.append("opener of a pack that is unpacked") }
    if !pack.deltas.isEmpty || pack.basePack != nil { faults.append("opener of a pack with deltas") }
    if pack.stream != nil { faults.append("opener of a pack with a lead") }
    return faults
  }
}

extension ManifestPack {
  /// The edition that an opener of this entry is for. The id must be a pack name.
  package func edition(backend: any CryptoBackend = CryptoBackends.standard) throws(PackError) -> Opener.Edition {
    Opener.Edition(version: version, packID: try PackID.bytes(for: PackName(id), backend: backend), sha256: sha256)
  }
}

extension ManifestOpener {
  func write(to writer: inout CanonicalWriter) {
    writer.object { writer in
      writer.string("opens", opens?.description)
      writer.string("sha256", sha256.hex)
      writer.integer("size", size)
    }
  }

  init(depth: Int, _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) {
    var object = try cursor.beginObject("an opener", depth: depth, in: bytes)
    var (opens, size, sha256): (ManifestTime?, UInt64?, [UInt8]?)
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "opens": opens = try cursor.time("a time of opening", in: bytes)
      case "sha256": sha256 = try cursor.hex("a SHA-256", count: 32, in: bytes)
      case "size": size = try cursor.integer("a size", in: bytes)
      default: try cursor.skip(depth: depth + 1, in: bytes)
      }
    }
    let owner = "\(cursor.subject)'s opener"
    self.init(opens: opens, size: try required(size, "size", of: owner), sha256: try required(sha256, "sha256", of: owner))
  }
}
