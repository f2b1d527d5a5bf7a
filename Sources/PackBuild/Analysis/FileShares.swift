/// Collects which packs have the same contents.
struct FileShares {
  /// Packs that have the same contents.
  struct Group {
    let members: [Member]
    /// The number of contents.
    let contentCount: Int
    /// The sum of the sizes of the contents in bytes.
    let size: UInt64
  }

  /// A pack of a group.
  struct Member {
    let pack: PackerConfiguration.Pack
    /// The size of the pack in bytes.
    let size: UInt64
    /// The paths of all files with these contents.
    let paths: Set<String>
    /// The paths of all other files.
    let others: Set<String>
    var fileCount: Int { paths.count + others.count }
  }

  private var packs: [(pack: PackerConfiguration.Pack, size: UInt64, files: [(path: String, sha256: [UInt8])])] = []
  private var contents: [[UInt8]: (size: UInt64, packs: [Int])] = [:]

  /// The size in bytes from which contents count.
  private static let smallest: UInt64 = 4096

  /// - Parameter leavesOut: whether a file would rather be left out.
  mutating func add(_ list: FileList, of pack: PackerConfiguration.Pack, size: UInt64, leavesOut: (String) -> Bool) {
    let files = list.files
    for file in files where file.size >= Self.smallest && !leavesOut(file.path) {
      var content = contents[file.sha256] ?? (file.size, [])
      if content.packs.last != packs.count { content.packs.append(packs.count) }
      contents[file.sha256] = content
    }
    packs.append((pack, size, files.map { ($0.path, $0.sha256) }))
  }

  /// The contents by the packs that have them, the largest sum first.
  var groups: [Group] {
    var digests: [[Int]: Set<[UInt8]>] = [:]
    let bases = Set(packs.compactMap(\.pack.base))
    for (digest, content) in contents where content.packs.count > 1 {
      // A pack over a base that has the content does not download it again.
      let ids = Set(content.packs.map { packs[$0].pack.id.text })
      let others = content.packs.filter { !(packs[$0].pack.base.map(ids.contains) ?? false) && !bases.contains(packs[$0].pack.id.text) }
      if others.count > 1 { digests[others, default: []].insert(digest) }
    }
    return digests.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { numbers, shared in
      let members = numbers.map { number in
        let pack = packs[number]
        let paths = Set(pack.files.lazy.filter { shared.contains($0.sha256) }.map(\.path))
        return Member(
          pack: pack.pack, size: pack.size, paths: paths, others: Set(pack.files.lazy.map(\.path).filter { !paths.contains($0) }))
      }
      let size = shared.reduce(0 as UInt64) { $0.adding(contents[$1]?.size ?? 0) }
      return Group(members: members, contentCount: shared.count, size: size)
    }.sorted { ($1.size, $0.members[0].pack.id.text) < ($0.size, $1.members[0].pack.id.text) }
  }
}
