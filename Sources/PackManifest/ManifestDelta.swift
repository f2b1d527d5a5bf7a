/// A delta to a pack that a manifest offers (FORMAT.md §9.3). It makes the content root of the pack's entry.
///
/// Its file is published like that of a full pack: its name has the pack's id and the start of its own digest.
package struct ManifestDelta: Hashable, Sendable {
  /// The content roots of the packs that it is applied over, 32 bytes each, in the order of its head. From 1 to ``Limits/deltaBases``.
  package var bases: [[UInt8]]
  /// The exact size of the file in bytes, as served.
  package var size: UInt64
  /// The SHA-256 of the file, 32 bytes.
  package var sha256: [UInt8]

  package init(bases: [[UInt8]], size: UInt64, sha256: [UInt8]) {
    self.bases = bases
    self.size = size
    self.sha256 = sha256
  }

  /// The most deltas to one pack.
  package static let largestCount = 64

  /// Returns the faults of the deltas to one pack, as texts.
  static func faults(of deltas: [ManifestDelta]) -> [String] {
    var faults = deltas.flatMap { delta in delta.faults.map { "delta \(delta.sha256.prefix(8).hex): \($0)" } }
    if deltas.count > largestCount { faults.append("it has \(deltas.count) deltas") }
    for (left, right) in zip(deltas, deltas.dropFirst()) where !left.sha256.lexicographicallyPrecedes(right.sha256) {
      faults.append("delta \(right.sha256.prefix(8).hex) comes after \(left.sha256.prefix(8).hex), but digests must ascend")
    }
    return faults
  }

  private var faults: [String] {
    var faults: [String] = []
    if !(1...Limits.deltaBases).contains(bases.count) { faults.append("it has \(bases.count) bases") }
    if Set(bases).count != bases.count { faults.append("it names a base twice") }
    if (bases + [sha256]).contains(where: { $0.count != 32 }) { faults.append("a digest is not 32 bytes") }
    if !(1...CanonicalCursor.largestInteger).contains(size) { faults.append("size is \(size)") }
    return faults
  }
}

extension ManifestPack {
  /// Returns the smallest delta of which all bases are among these content roots, or nil if none is smaller than the pack's own file. Of several with one
  /// size it is the one with the lowest digest, so that the choice is always the same.
  package func cheapestDelta(over roots: Set<[UInt8]>) -> ManifestDelta? {
    deltas.filter { delta in delta.size < size && delta.bases.allSatisfy { roots.contains($0) } }
      .min { $0.size == $1.size ? $0.sha256.lexicographicallyPrecedes($1.sha256) : $0.size < $1.size }
  }
}

extension ManifestDelta {
  func write(to writer: inout CanonicalWriter) {
    writer.object { writer in
      writer.array("bases", bases) { $0.string($1.hex) }
      writer.string("sha256", sha256.hex)
      writer.integer("size", size)
    }
  }

  static func list(depth: Int, _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) -> [ManifestDelta] {
    var array = try cursor.beginArray("deltas", depth: depth, in: bytes)
    var deltas: [ManifestDelta] = []
    while try cursor.hasNext(in: &array, in: bytes) {
      guard deltas.count < ManifestDelta.largestCount else { throw cursor.fault("has too many deltas for a pack") }
      deltas.append(try ManifestDelta(depth: depth + 1, &cursor, bytes))
    }
    return deltas
  }

  private init(depth: Int, _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) {
    var object = try cursor.beginObject("a delta", depth: depth, in: bytes)
    var (bases, sha256): ([[UInt8]]?, [UInt8]?)
    var size: UInt64?
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "bases": bases = try Self.bases(depth: depth + 1, &cursor, bytes)
      case "sha256": sha256 = try cursor.hex("a SHA-256", count: 32, in: bytes)
      case "size": size = try cursor.integer("a size", in: bytes)
      default: try cursor.skip(depth: depth + 1, in: bytes)
      }
    }
    let owner = "\(cursor.subject)'s delta"
    self.init(
      bases: try required(bases, "bases", of: owner), size: try required(size, "size", of: owner),
      sha256: try required(sha256, "sha256", of: owner))
  }

  private static func bases(depth: Int, _ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) -> [[UInt8]] {
    var array = try cursor.beginArray("bases", depth: depth, in: bytes)
    var bases: [[UInt8]] = []
    while try cursor.hasNext(in: &array, in: bytes) {
      guard bases.count < Limits.deltaBases else { throw cursor.fault("has too many bases for a delta") }
      bases.append(try cursor.hex("a content root", count: 32, in: bytes))
    }
    return bases
  }
}
