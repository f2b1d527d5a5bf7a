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
  private var contents = SharedContents<Void>()

  /// - Parameter leavesOut: whether a file would rather be left out.
  mutating func add(_ list: FileList, of pack: PackerConfiguration.Pack, size: UInt64, leavesOut: (String) -> Bool) {
    let files = list.files
    for file in files where !leavesOut(file.path) { contents.add(file.sha256, size: file.size, in: packs.count, at: ()) }
    packs.append((pack, size, files.map { ($0.path, $0.sha256) }))
  }

  /// The contents by the packs that have them, the largest sum first.
  var groups: [Group] {
    let over = SharedContents<Void>.bases(of: packs.map { ($0.pack.id.text, $0.pack.base) })
    let bases = Set(over.values)
    var groups: [[Int]: (digests: Set<[UInt8]>, size: UInt64)] = [:]
    for (digest, content) in contents.shared(over: over) {
      // A base is published over no other pack.
      let members = content.places.map(\.pack).filter { !bases.contains($0) }
      guard members.count > 1 else { continue }
      var group = groups[members] ?? ([], 0)
      group.digests.insert(digest)
      group.size = group.size.adding(content.size)
      groups[members] = group
    }
    return groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { numbers, group in
      let shared = group.digests
      let members = numbers.map { number in
        let pack = packs[number]
        let paths = Set(pack.files.lazy.filter { shared.contains($0.sha256) }.map(\.path))
        return Member(
          pack: pack.pack, size: pack.size, paths: paths, others: Set(pack.files.lazy.map(\.path).filter { !paths.contains($0) }))
      }
      return Group(members: members, contentCount: shared.count, size: group.size)
    }.sorted { ($1.size, $0.members[0].pack.id.text) < ($0.size, $1.members[0].pack.id.text) }
  }
}
