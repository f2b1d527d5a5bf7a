/// The items that one store has open, and their marks for other processes: an empty file `uses/<item>~<session>` exists while an item is open.
///
/// A mark is not a file lock, because the system terminates a process that holds one while it is suspended. Marks of processes that have ended do
/// not count.
final class UseLedger: Sendable {
  private let session: String
  private let root: OpenFile
  private let files: any FileSystem
  private let counts = Monitor<[String: Int]>([:])

  init(session: String, root: OpenFile, files: any FileSystem) {
    self.session = session
    self.root = root
    self.files = files
  }

  /// The items that are open.
  var items: Set<String> { counts.withLock { Set($0.keys) } }

  /// Counts items as opened once more, under the store's lock.
  ///
  /// If the disk is full or read-only, they open without a mark, and only this process knows that they are in use.
  func open(_ items: [String]) -> UseMark {
    counts.withLock { counts in
      for item in items {
        if counts[item] == nil { _ = try? files.open(name(item), .create(mode: 0o644), in: root) }
        counts[item, default: 0] += 1
      }
    }
    return UseMark(items, of: self)
  }

  fileprivate func close(_ items: [String]) {
    counts.withLock { counts in
      for item in items {
        guard let count = counts[item] else { continue }
        counts[item] = count > 1 ? count - 1 : nil
        // Inside `withLock`, so that it cannot remove a mark that was just made.
        if count == 1 { try? files.remove(name(item), .file, in: root) }
      }
    }
  }

  private func name(_ item: String) -> String { "\(StoreDirectory.Part.uses.rawValue)/\(item)~\(session)" }

  /// Returns the item and the session in the name of a mark.
  static func parts(ofName name: String) -> (item: String, session: String)? {
    guard let tilde = name.lastIndex(of: "~") else { return nil }
    return (String(name[..<tilde]), String(name[name.index(after: tilde)...]))
  }
}

/// A mark that keeps items in use until it is released.
package final class UseMark: Sendable {
  private let items: [String]
  private let ledger: UseLedger

  fileprivate init(_ items: [String], of ledger: UseLedger) {
    self.items = items
    self.ledger = ledger
  }

  deinit {
    ledger.close(items)
  }
}
