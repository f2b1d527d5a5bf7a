/// The entries of a pack, to be shown in an order that a person chooses, or as a tree with the sums of its directories.
///
/// Memory: about 200 bytes and the path for each entry, and twice as much for a tree, also for each of its directories.
package struct EntryList: Sendable {
  /// One file or directory.
  package struct Item: Sendable {
    /// Nil for a directory of a tree, which has entries below it.
    package let entry: Entry?
    package let path: String
    /// The length of the content in bytes, or the sum of those below.
    package fileprivate(set) var size: UInt64
    /// The bytes in the pack, or the sum of those below.
    package fileprivate(set) var packedSize: UInt64
    /// The number of files: 1 for a file, and for a directory those below.
    package fileprivate(set) var files: Int
    /// The number of directories around it.
    package var depth: Int { path.utf8.count { $0 == UInt8(ascii: "/") } }
    /// The last component of the path.
    package var name: Substring { path.unicodeScalars.split(separator: "/").last.map(Substring.init) ?? path[...] }
  }

  /// What the entries are sorted by.
  package enum Order: String, CaseIterable, Sendable {
    /// The byte order of the paths.
    case path
    /// The largest content first.
    case size
    /// The largest share of the pack first.
    case packed
  }

  package private(set) var items: [Item]

  /// Reads the entries.
  ///
  /// - Parameters:
  ///   - packed: the bytes of each entry in the pack; nil if they are not needed.
  ///   - isWanted: whether an entry is listed.
  /// - Throws: ``PackError/Code/limitExceeded`` if the entries are in more directories than a pack may have.
  package init(
    _ pack: Pack, _ packed: PackedSizes? = nil, where isWanted: (Entry) throws(PackError) -> Bool = { _ in true }
  ) throws(PackError) {
    var items: [Item] = []
    var (number, tree) = (0, TreeCount())
    try pack.forEachEntry { (entry) throws(PackError) in
      defer { number += 1 }
      guard try isWanted(entry) else { return }
      try tree.add(path: Array(entry.path.utf8).byteSpan, kind: entry.kind == .directory ? .directory : .file, size: entry.size)
      items.append(Item(entry, packedSize: packed?.sizes[number] ?? 0))
    }
    self.items = items
  }

  /// The sums of some entries.
  package struct Sum: Hashable, Sendable {
    package let entries: Int
    /// The bytes of all contents.
    package let size: UInt64
    /// Their bytes in the pack.
    package let packedSize: UInt64
  }

  /// The sums of all entries. Call it before directories are added.
  package var sum: Sum {
    Sum(
      entries: items.count, size: items.reduce(0) { $0.adding($1.size) }, packedSize: items.reduce(0) { $0.adding($1.packedSize) })
  }

  /// Sorts the entries. Those that are equal stay in the order of their paths.
  package mutating func sort(by order: Order) {
    guard let value = Self.value(order) else { return }
    items = Self.sorted(items, by: value)
  }

  /// Sorts elements, the largest first. Those that are equal stay in their order.
  private static func sorted<Element>(_ elements: [Element], by value: (Element) -> UInt64) -> [Element] {
    elements.enumerated().sorted { (value($1.element), $0.offset) < (value($0.element), $1.offset) }.map(\.element)
  }

  private static func value(_ order: Order) -> ((Item) -> UInt64)? {
    switch order {
    case .path: nil
    case .size: { $0.size }
    case .packed: { $0.packedSize }
    }
  }

  /// Adds the directories, each before what is in it. Within a directory everything is sorted.
  package mutating func makeTree(by order: Order) {
    var nodes = [Node(item: nil)]
    // The directories that the previous path is in.
    var open: [(name: Substring.UnicodeScalarView, node: Int)] = []
    for item in items {
      // Scalars, because a slash and a combining mark after it are a single character.
      let directories = item.path.unicodeScalars.split(separator: "/").dropLast()
      let shared = zip(open, directories).prefix { $0.name.elementsEqual($1) }.count
      open.removeLast(open.count - shared)
      for name in directories.dropFirst(shared) {
        let parent = open.last?.node ?? 0
        let path = item.path[..<name.endIndex]
        nodes.append(Node(item: Item(entry: nil, path: String(path), size: 0, packedSize: 0, files: 0)))
        nodes[parent].children.append(nodes.count - 1)
        open.append((name, nodes.count - 1))
      }
      nodes.append(Node(item: item))
      nodes[open.last?.node ?? 0].children.append(nodes.count - 1)
      for directory in open { nodes[directory.node].add(item) }
    }
    let value = Self.value(order)
    var result: [Item] = []
    // A stack, because paths may be deep.
    var left = [0]
    while let number = left.popLast() {
      if let item = nodes[number].item { result.append(item) }
      var children = nodes[number].children
      if let value { children = Self.sorted(children) { nodes[$0].item.map(value) ?? 0 } }
      left += children.reversed()
    }
    items = result
  }

  private struct Node {
    /// Nil for the root.
    var item: Item?
    var children: [Int] = []

    mutating func add(_ below: Item) {
      item?.size += below.size
      item?.packedSize += below.packedSize
      item?.files += below.files
    }
  }
}

extension EntryList.Item {
  package init(_ entry: Entry, packedSize: UInt64 = 0) {
    self.init(entry: entry, path: entry.path, size: entry.size, packedSize: packedSize, files: entry.kind == .file ? 1 : 0)
  }

  /// - Parameters:
  ///   - isPacked: whether its size in the pack is known.
  ///   - isTree: whether directories have the sums of their files.
  package func json(isPacked: Bool, isTree: Bool) -> JSON {
    let isDirectory = entry?.kind != .file
    return [
      "type": "entry", "path": .text(path), "kind": isDirectory ? "directory" : "file", "size": .number(size),
      "isExecutable": .flag(entry?.isExecutable ?? false), "sha256": isDirectory ? nil : .text(entry?.sha256.hex),
      "packedSize": isPacked ? .number(packedSize) : nil, "files": isTree && isDirectory ? .number(files) : nil,
    ]
  }
}

extension EntryList.Sum {
  /// Sizes are in bytes.
  package func json(isPacked: Bool) -> JSON {
    ["type": "sum", "entries": .number(entries), "size": .number(size), "packedSize": isPacked ? .number(packedSize) : nil]
  }
}
