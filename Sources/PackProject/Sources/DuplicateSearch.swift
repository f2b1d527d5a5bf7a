/// A search for files with the same content and the same permissions.
///
/// Only files of the same size are compared. Larger ones are compared by their first bytes before they are read completely. Small files have the same
/// size as many others, and reading them all would take longer than packing them, so they are compared only if their names are equal too, as in
/// copies of a directory (FORMAT.md §4.2.4).
package struct DuplicateSearch {
  /// For each entry, the number of the first one with the same content, or -1.
  package let originals: [Int32]
  /// The digests that the search computed, by number. The content that is packed later must still have them.
  package let digests: [Int32: [UInt8]]

  private struct Shape: Hashable {
    var size: UInt64
    var kind: UInt8
    /// The name of a small file; nil for others.
    var name: String?

    init(_ entry: SourceEntry) {
      size = entry.size
      kind = entry.kind.rawValue
      if entry.size < DuplicateSearch.smallestForAnyName { name = entry.name }
    }
  }

  private struct Fingerprint: Hashable {
    var shape: Shape
    var bytes: [UInt8]
  }

  /// The size in bytes from which files with different names are compared.
  static let smallestForAnyName: UInt64 = 8 << 10
  /// The number of bytes that are compared first, and the file size from which this is worthwhile.
  private static let firstLook = 4096
  private static let smallestForFirstLook: UInt64 = 16 << 10

  /// Returns the numbers of the entries that have the same shape as another one, in ascending order.
  private static func withNeighbour(_ entries: [SourceEntry]) -> [Int32] {
    // Most entries differ in size, so few names are compared.
    let sizes = entries.map(\.size)
    var found: [Int32] = []
    var rest = sizes.indices.filter { sizes[$0] > 0 }.sorted { sizes[$0] < sizes[$1] }[...]
    while let first = rest.first {
      let group = rest.prefix { sizes[$0] == sizes[first] }
      rest = rest.dropFirst(group.count)
      guard group.count > 1 else { continue }
      var shapes: [UInt64: Int] = [:]
      let keys = group.map { shapeKey(entries[$0]) }
      for key in keys { shapes[key, default: 0] += 1 }
      for (number, key) in zip(group, keys) where shapes[key, default: 0] > 1 { found.append(Int32(number)) }
    }
    return found.sorted()
  }

  /// Returns a number that is equal for entries of the same shape, and rarely equal for other entries of the same size.
  private static func shapeKey(_ entry: SourceEntry) -> UInt64 {
    var key = UInt64(entry.kind.rawValue)
    guard entry.size < smallestForAnyName else { return key }
    entry.path.withBytes { path in
      var index = path.count
      while index > 0, path[index - 1] != UInt8(ascii: "/") {
        index -= 1
        key = (key ^ UInt64(path[index])) &* 0x100_0000_01B3
      }
    }
    return key
  }

  package init(
    _ ordered: [SourceEntry], reader: SourceReader, backend: any CryptoBackend, jobs: Int, progress: ProgressHandler?
  ) async throws(PackError) {
    let sameShape = Self.withNeighbour(ordered)
    let looked = sameShape.filter { ordered[Int($0)].size >= Self.smallestForFirstLook }
    let starts = try await SourceDigests.run(
      looked, ordered, limit: Self.firstLook, reader: reader, backend: backend, jobs: jobs, progress: nil)
    var byStart: [Fingerprint: [Int32]] = [:]
    for number in sameShape {
      let entry = ordered[Int(number)]
      let key = Fingerprint(shape: Shape(entry), bytes: starts[number] ?? [])
      byStart[key, default: []].append(number)
    }
    let candidates = byStart.values.filter { $0.count > 1 }.flatMap(\.self).sorted()
    digests = try await SourceDigests.run(
      candidates, ordered, limit: .max, reader: reader, backend: backend, jobs: jobs, progress: progress)
    var originals = [Int32](repeating: -1, count: ordered.count)
    var first: [Fingerprint: Int32] = [:]
    for number in candidates {
      let entry = ordered[Int(number)]
      guard let digest = digests[number] else { continue }
      let key = Fingerprint(shape: Shape(entry), bytes: digest)
      if let original = first[key] {
        originals[Int(number)] = original
      } else {
        first[key] = number
      }
    }
    self.originals = originals
  }
}
