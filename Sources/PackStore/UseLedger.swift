import PackFiles
import PackWork

/// What one store has open, and the marks that tell other processes of it: an empty file `uses/<item>~<session>` while an item is open.
///
/// A mark holds no lock, because the system ends a process that it suspends with one. That of a process that has ended is worth nothing.
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

  /// Notes that an item is open once more, under the store's lock.
  ///
  /// A full disk, or one that cannot be written, keeps nobody from opening what is installed: then only this process knows.
  func open(_ item: String) -> UseMark {
    counts.withLock { counts in
      if counts[item] == nil { _ = try? files.open(name(item), .create(mode: 0o644), in: root) }
      counts[item, default: 0] += 1
    }
    return UseMark(item, of: self)
  }

  fileprivate func close(_ item: String) {
    counts.withLock { counts in
      guard let count = counts[item] else { return }
      counts[item] = count > 1 ? count - 1 : nil
      // With the lock, so that it cannot remove a mark that was just made.
      if count == 1 { try? files.remove(name(item), .file, in: root) }
    }
  }

  private func name(_ item: String) -> String { "\(StoreDirectory.Part.uses.rawValue)/\(item)~\(session)" }

  /// The item and the session that a mark names.
  static func parts(ofName name: String) -> (item: String, session: String)? {
    guard let tilde = name.lastIndex(of: "~") else { return nil }
    return (String(name[..<tilde]), String(name[name.index(after: tilde)...]))
  }
}

/// Keeps an item in use.
package final class UseMark: Sendable {
  private let item: String
  private let ledger: UseLedger

  fileprivate init(_ item: String, of ledger: UseLedger) {
    self.item = item
    self.ledger = ledger
  }

  deinit {
    ledger.close(item)
  }
}
