/// Contents that several packs have, so that each of these packs stores them.
struct SharedContents {
  /// Where one pack has the content: the first of its files in byte order of the paths.
  private struct Place {
    let pack: Int
    let file: Int
    let packed: UInt64
  }

  private var contents: [[UInt8]: (size: UInt64, places: [Place])] = [:]

  /// The size in bytes from which contents count. Smaller ones are not worth a shared pack.
  private static let smallest: UInt64 = 4096
  /// The largest number of contents that are shown.
  private static let most = 200

  /// Adds the files of a pack.
  ///
  /// - Parameter pack: its number on the page.
  mutating func add(_ list: FileList, pack: Int) {
    for (file, item) in list.files.enumerated() where item.size >= Self.smallest {
      var content = contents[item.sha256] ?? (item.size, [])
      // Copies in one pack are stored once.
      if content.places.last?.pack != pack { content.places.append(Place(pack: pack, file: file, packed: item.packedSize ?? 0)) }
      contents[item.sha256] = content
    }
  }

  /// The contents of several packs, those that waste most first: all that they take beyond the largest copy.
  var duplicates: [JSON] {
    let shared = contents.values.filter { $0.places.count > 1 }.map { content in
      let packed = content.places.map(\.packed)
      return (content: content, wasted: packed.reduce(0) { $0.adding($1) } - (packed.max() ?? 0))
    }
    func place(_ content: (size: UInt64, places: [Place])) -> (Int, Int) { (content.places[0].pack, content.places[0].file) }
    let sorted = shared.sorted { left, right in
      left.wasted == right.wasted ? place(left.content) < place(right.content) : left.wasted > right.wasted
    }
    return sorted.prefix(Self.most).map { content, wasted in
      let places = content.places.map { JSON.list([.number(UInt64($0.pack)), .number(UInt64($0.file))]) }
      return .sorted(["size": .number(content.size), "wasted": .number(wasted), "places": .list(places)])
    }
  }
}
