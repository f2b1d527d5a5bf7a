/// What differs between two lists of files.
package struct TreeChanges: Sendable {
  /// One path that differs.
  package struct Change: Hashable, Sendable {
    /// How it differs.
    package enum Kind: String, Hashable, Sendable {
      case added
      case removed
      /// It has the content of a file that was removed.
      case renamed
      /// It has other content, or is a file instead of a directory.
      case changed
      /// Only the permission to execute it differs.
      case mode
    }

    package let kind: Kind
    /// The file before. Nil if it was added.
    package let before: FileList.Item?
    /// The file after. Nil if it was removed.
    package let after: FileList.Item?
    /// The bytes of it that players download. Nil if that is not known.
    package let updateSize: UInt64?

    /// What else differs, for people: whether it can be executed, or whether it is a directory. Nil if nothing does.
    package var note: String? {
      guard let before, let after, before.kind != after.kind else { return nil }
      switch (before.kind, after.kind) {
      case (_, .directory): return "now a directory"
      case (.directory, _): return "was a directory"
      case (_, .executable): return "now executable"
      default: return "no longer executable"
      }
    }
    /// Whether it is a directory, or if it was removed, was one.
    package var isDirectory: Bool { (after ?? before)?.kind == .directory }
    /// The path now, or if it was removed, before.
    package var path: String { after?.path ?? before?.path ?? "" }
    /// What it costs in bytes: to download, or if that is not known, in the pack, or without a pack, its size. 0 if it was removed.
    package var cost: UInt64 { after.map { updateSize ?? $0.packedSize ?? $0.size } ?? 0 }
  }

  /// The bytes of several files.
  package struct Sum: Hashable, Sendable {
    package fileprivate(set) var count = 0
    /// Of their contents.
    package fileprivate(set) var size: UInt64 = 0
    /// In the pack.
    package fileprivate(set) var packedSize: UInt64 = 0
    /// To download.
    package fileprivate(set) var updateSize: UInt64 = 0
    /// The number of files that are gone. They are not in the other numbers.
    package fileprivate(set) var removed = 0
    /// Of their contents.
    package fileprivate(set) var removedSize: UInt64 = 0
  }

  /// The paths that differ: the most expensive first, then the largest, then in byte order. What was removed comes last.
  package let changes: [Change]
  /// The files and directories that do not differ.
  package let unchanged: Sum

  /// Compares two lists.
  ///
  /// - Parameter updates: the bytes to download for each item of `after`; nil if they are not known.
  package init(from before: FileList, to after: FileList, updates: [UInt64]? = nil) {
    var unchanged = Sum()
    var changes: [Change] = []
    var removed: [FileList.Item] = []
    var added: [Int] = []
    var position = 0
    for (number, item) in after.items.enumerated() {
      while position < before.items.count, before.items[position].path.utf8.lexicographicallyPrecedes(item.path.utf8) {
        removed.append(before.items[position])
        position += 1
      }
      // Paths that are equal as text may have different bytes.
      guard position < before.items.count, before.items[position].path.utf8.elementsEqual(item.path.utf8) else {
        added.append(number)
        continue
      }
      let old = before.items[position]
      position += 1
      let isSameContent = (old.kind == .directory) == (item.kind == .directory) && old.sha256 == item.sha256
      if isSameContent, old.kind == item.kind {
        unchanged.add(item, updates?[number])
      } else {
        changes.append(Change(kind: isSameContent ? .mode : .changed, before: old, after: item, updateSize: updates?[number]))
      }
    }
    removed += before.items[position...]
    changes += Self.moves(from: removed, to: added.map { (after.items[$0], updates?[$0]) })
    self.unchanged = unchanged
    self.changes = changes.enumerated().sorted { left, right in
      let (one, other) = (left.element, right.element)
      guard (one.kind == .removed) == (other.kind == .removed) else { return other.kind == .removed }
      let sizes = (one.after ?? one.before, other.after ?? other.before)
      return (other.cost, sizes.1?.size ?? 0, left.offset) < (one.cost, sizes.0?.size ?? 0, right.offset)
    }.map(\.element)
  }

  /// Returns the paths that are in one of the lists only, in byte order. A content that is removed under one path and added under another was renamed:
  /// to a path with the same name if there is one.
  private static func moves(from removed: [FileList.Item], to added: [(item: FileList.Item, updateSize: UInt64?)]) -> [Change] {
    var origins = [Int?](repeating: nil, count: added.count)
    var isMoved = [Bool](repeating: false, count: removed.count)
    func match(by key: (FileList.Item) -> [UInt8]) {
      // Stacks with the first path on top.
      var sources: [[UInt8]: [Int]] = [:]
      for (number, item) in removed.enumerated().reversed() where item.size > 0 && !isMoved[number] {
        sources[key(item), default: []].append(number)
      }
      for (number, file) in added.enumerated() where file.item.size > 0 && origins[number] == nil {
        guard let origin = sources[key(file.item)]?.popLast() else { continue }
        (origins[number], isMoved[origin]) = (origin, true)
      }
    }
    match { $0.sha256 + name($0) }
    match { $0.sha256 }
    var changes = added.enumerated().map { number, file in
      let origin = origins[number].map { removed[$0] }
      return Change(kind: origin == nil ? .added : .renamed, before: origin, after: file.item, updateSize: file.updateSize)
    }
    for (number, item) in removed.enumerated() where !isMoved[number] {
      changes.append(Change(kind: .removed, before: item, after: nil, updateSize: nil))
    }
    return changes.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }

  private static func name(_ item: FileList.Item) -> Substring.UTF8View {
    let bytes = item.path.utf8
    return bytes[(bytes.lastIndex(of: UInt8(ascii: "/")).map(bytes.index(after:)) ?? bytes.startIndex)...]
  }

  /// The sum of some changes.
  package static func sum(_ changes: some Sequence<Change>) -> Sum {
    changes.reduce(into: Sum()) { sum, change in
      guard let after = change.after else {
        sum.removed += 1
        sum.removedSize = sum.removedSize.adding(change.before?.size ?? 0)
        return
      }
      sum.add(after, change.updateSize)
    }
  }
}

extension TreeChanges.Sum {
  fileprivate mutating func add(_ item: FileList.Item, _ updateSize: UInt64?) {
    count += 1
    size = size.adding(item.size)
    packedSize = packedSize.adding(item.packedSize ?? 0)
    self.updateSize = self.updateSize.adding(updateSize ?? 0)
  }
}
