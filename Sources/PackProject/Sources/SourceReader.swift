package import PackFiles
package import PackFormat

/// Reads the files of a source tree and notices whatever has become of them since they were scanned.
package struct SourceReader: Sendable {
  package let sourceProblems: SourceProblems

  private let root: OpenFile
  private let followsSymlinks: Bool
  private let files: any FileSystem

  package init(root: String, followsSymlinks: Bool, files: any FileSystem, sourceProblems: SourceProblems) throws(PackError) {
    self.sourceProblems = sourceProblems
    self.followsSymlinks = followsSymlinks
    self.files = files
    do {
      self.root = try files.open(root, .directory, in: nil)
    } catch {
      throw error.reading(root)
    }
  }

  /// Opens a file. What is wrong with it goes to the sourceProblems.
  ///
  /// - Parameter isRead: whether all of it will be read at once and then confirmed, so that a look in advance is not needed.
  package func open(_ entry: SourceEntry, toReadAtOnce isRead: Bool = false) -> OpenFile? {
    do throws(FileFailure) {
      let file = try files.open(entry.path, followsSymlinks ? .read : .readUnlinked, in: root)
      if isRead { return file }
      return try isUnchanged(file, entry) ? file : nil
    } catch {
      if error.isMissing {
        sourceProblems.add(entry.path, .sourceChanged, "disappeared while it was being packed", hint: Self.changedHint)
      } else {
        sourceProblems.add(entry.path, .cannotRead, "cannot be read: \(error.text)")
      }
      return nil
    }
  }

  /// Reports a file that holds a secret.
  package func checkSecrets(_ entry: SourceEntry, start content: Span<UInt8>) {
    guard entry.size <= SourceRules.largestSecret, let reason = SourceRules.secret(content: content) else { return }
    sourceProblems.addSecret(entry.path, reason)
  }

  /// Looks whether a file can be read and holds a secret, without packing it.
  package func look(at entry: SourceEntry, allowsSecrets: Bool) {
    guard let file = open(entry), !allowsSecrets else { return }
    var start = [UInt8](repeating: 0, count: Int(min(entry.size, 64)))
    var target = start.mutableSpan
    guard read(file, entry, at: 0, into: &target) else { return }
    checkSecrets(entry, start: start.span)
  }

  /// Fills `buffer` with the bytes of a file from `offset` on, and says whether they were all there.
  package func read(
    _ file: OpenFile, _ entry: SourceEntry, at offset: UInt64, into buffer: inout MutableSpan<UInt8>
  ) -> Bool {
    do throws(PackError) {
      let count = try files.read(file, at: offset, filling: &buffer, name: entry.path)
      if count == buffer.count { return true }
      sourceProblems.add(entry.path, .sourceChanged, "became shorter while it was being packed", hint: Self.changedHint)
    } catch {
      // What took the file's place may be nothing to read from.
      if (try? isUnchanged(file, entry)) != false { sourceProblems.add(entry.path, error.code, "cannot be read") }
    }
    return false
  }

  /// Whether a file is still what it was when it was opened. Asked after its last byte was read. What is wrong goes to the sourceProblems.
  package func confirm(_ file: OpenFile, _ entry: SourceEntry) -> Bool {
    do {
      return try isUnchanged(file, entry)
    } catch {
      sourceProblems.add(entry.path, .cannotRead, "cannot be read: \(error.text)")
      return false
    }
  }

  private func isUnchanged(_ file: OpenFile, _ entry: SourceEntry) throws(FileFailure) -> Bool {
    let status = try files.status(of: file)
    guard status.size == entry.size, SourceStamp(status) == entry.stamp else {
      reportChange(entry)
      return false
    }
    return true
  }

  package func reportChange(_ entry: SourceEntry) {
    sourceProblems.add(entry.path, .sourceChanged, "changed while it was being packed", hint: Self.changedHint)
  }

  private static let changedHint = "pack again when nothing writes to the directory any more"
}
