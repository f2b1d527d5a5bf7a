/// The order in which the reference writer puts entries into a tar: by extension, then by the first path whose name and size are the same, then by path
/// (FORMAT.md §4.2.4).
///
/// Files of the same kind compress best side by side. Files with the same name and size in several directories are often the same or versions of
/// one another. With other sizes, most are parts of series, and the others of their series are more similar.
package enum TarOrder {
  /// What the order depends on besides the path.
  package struct Item {
    /// The last component of the path.
    var name: String
    var size: UInt64
    var isDirectory: Bool

    package init(name: String, size: UInt64, isDirectory: Bool) {
      self.name = name
      self.size = size
      self.isDirectory = isDirectory
    }

    package init(path: String, size: UInt64, isDirectory: Bool) {
      let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:)) ?? path.startIndex
      self.init(name: String(path[start...]), size: size, isDirectory: isDirectory)
    }
  }

  private struct Place {
    var fileExtension: Int
    /// The first entry of the same name and size.
    var group: Int
    var number: Int
  }

  private struct Likeness: Hashable {
    var name: String
    var size: UInt64
  }

  /// Returns the numbers of entries in the order of the tar.
  ///
  /// - Parameters:
  ///   - count: The number of entries.
  ///   - item: Returns an entry by its number in the byte order of the paths.
  package static func numbers(_ count: Int, _ item: (Int) -> Item) -> [Int] {
    var groups: [Likeness: Int] = [:]
    var extensions: [[UInt8]: Int] = [:]
    var places: [Place] = []
    places.reserveCapacity(count)
    for number in 0..<count {
      let item = item(number)
      let fileExtension = item.isDirectory ? [] : Self.fileExtension(of: item.name)
      let extensionNumber = extensions[fileExtension] ?? extensions.count
      extensions[fileExtension] = extensionNumber
      let likeness = Likeness(name: item.name, size: item.size)
      let group = groups[likeness] ?? number
      groups[likeness] = group
      places.append(Place(fileExtension: extensionNumber, group: group, number: number))
    }
    var ranks = [Int](repeating: 0, count: extensions.count)
    for (rank, item) in extensions.sorted(by: { precedes($0.key.byteSpan, $1.key.byteSpan) }).enumerated() {
      ranks[item.value] = rank
    }
    for index in places.indices { places[index].fileExtension = ranks[places[index].fileExtension] }
    places.sort { ($0.fileExtension, $0.group, $0.number) < ($1.fileExtension, $1.group, $1.number) }
    return places.map(\.number)
  }

  /// Returns the bytes after the last dot of the last component, with ASCII letters in lower case. Empty if there is no dot except a leading one.
  /// A font `eot` is a `ttf` with another header, so it has the same extension.
  package static func fileExtension(of path: String) -> [UInt8] {
    path.withBytes { path in
      var index = path.count
      while index > 0, path[index - 1] != UInt8(ascii: "/") {
        index -= 1
        guard path[index] == UInt8(ascii: ".") else { continue }
        guard index > 0, path[index - 1] != UInt8(ascii: "/") else { return [] }
        var bytes = [UInt8](copying: path.extracting((index + 1)...))
        for position in bytes.indices where (65...90).contains(bytes[position]) { bytes[position] += 32 }
        return bytes == Array("eot".utf8) ? Array("ttf".utf8) : bytes
      }
      return []
    }
  }
}
