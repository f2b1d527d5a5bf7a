/// A reader of the files of a source tree, which detects changes since the scan.
package struct SourceReader: Sendable {
  package let sourceProblems: SourceProblems

  package let settings: PackSettings

  private let root: OpenFile
  private let files: any FileSystem

  package init(root: String, _ settings: PackSettings, files: any FileSystem, sourceProblems: SourceProblems) throws(PackError) {
    self.sourceProblems = sourceProblems
    self.settings = settings
    self.files = files
    self.root = try files.open(root, .directory)
  }

  /// Opens a file. Problems are added to `sourceProblems`.
  ///
  /// - Parameter isRead: whether the whole file will be read at once and then confirmed, so that it need not be checked now.
  package func open(_ entry: SourceEntry, toReadAtOnce isRead: Bool = false) -> OpenFile? {
    do throws(FileFailure) {
      let file = try files.open(entry.path, settings.followsSymlinks ? .read : .readUnlinked, in: root)
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

  /// Adds a file to `sourceProblems` if it starts like a key.
  package func checkSecrets(_ entry: SourceEntry, start content: Span<UInt8>) {
    guard entry.size <= SourceRules.largestSecret, let reason = SourceRules.secret(content: content),
      !settings.allowedSecrets.allow(entry.path, rule: SecretRule.keyFile)
    else { return }
    sourceProblems.addSecret(entry.path, "\(reason) (\(SecretRule.keyFile))")
  }

  /// Adds a file to `sourceProblems` for the first secret that was found in it and is not allowed.
  package func checkSecrets(_ entry: SourceEntry, _ file: OpenFile, found matches: [SecretScanner.Match]) {
    guard let match = matches.first(where: { !settings.allowedSecrets.allow(entry.path, rule: $0.rule.id) }) else { return }
    // Read again up to there, instead of counting the lines of all files.
    var place = LinePlace()
    _ = forEachPiece(of: file, entry, upTo: match.offset) { (piece, _) in place.add(piece) }
    sourceProblems.addSecret(entry.path, match.rule.finding(at: place))
  }

  /// Whether secrets are allowed in a file that are not allowed in its copies.
  package func mayAllow(_ entry: SourceEntry) -> Bool { settings.allowedSecrets.mention(entry.path) }

  /// Checks whether a file can be read and contains a secret, without packing it.
  package func look(at entry: SourceEntry) {
    guard let file = open(entry), !settings.allowsSecrets else { return }
    var scanner = SecretScanner()
    let isWhole = forEachPiece(of: file, entry, upTo: entry.size) { (piece, offset) in
      if offset == 0 { checkSecrets(entry, start: piece) }
      scanner.add(piece, isLast: offset + UInt64(piece.count) == entry.size)
    }
    guard isWhole else { return }
    checkSecrets(entry, file, found: scanner.matches)
  }

  /// Calls `body` with the bytes of a file before `end`, piece by piece, each with its offset. Returns false if they cannot all be read, or the work is
  /// over.
  private func forEachPiece(
    of file: OpenFile, _ entry: SourceEntry, upTo end: UInt64, _ body: (Span<UInt8>, UInt64) -> Void
  ) -> Bool {
    var buffer = [UInt8](repeating: 0, count: Int(min(end, UInt64(Self.pieceSize))))
    var offset: UInt64 = 0
    while offset < end {
      guard !WorkerPool.isCancelled else { return false }
      let count = Int(min(end - offset, UInt64(buffer.count)))
      var whole = buffer.mutableByteSpan
      var target = whole._mutatingExtracting(first: count)
      guard read(file, entry, at: offset, into: &target) else { return false }
      body(buffer.byteSpan.extracting(first: count), offset)
      offset += UInt64(count)
    }
    return true
  }

  private static let pieceSize = 256 << 10

  /// Fills `buffer` with the bytes of a file from `offset` on. Returns false if there are not enough of them.
  package func read(
    _ file: OpenFile, _ entry: SourceEntry, at offset: UInt64, into buffer: inout MutableSpan<UInt8>
  ) -> Bool {
    do throws(PackError) {
      let count = try files.read(file, at: offset, filling: &buffer, name: entry.path)
      if count == buffer.count { return true }
      sourceProblems.add(entry.path, .sourceChanged, "became shorter while it was being packed", hint: Self.changedHint)
    } catch {
      // The file may have been replaced by something that cannot be read.
      if (try? isUnchanged(file, entry)) != false { sourceProblems.add(entry.path, error.code, "cannot be read") }
    }
    return false
  }

  /// Returns whether a file has not changed since the scan. Call it after the last byte was read. Problems are added to `sourceProblems`.
  package func confirm(_ file: OpenFile, _ entry: SourceEntry) -> Bool {
    do {
      return try isUnchanged(file, entry)
    } catch {
      sourceProblems.add(entry.path, .cannotRead, "cannot be read: \(error.text)")
      return false
    }
  }

  private func isUnchanged(_ file: OpenFile, _ entry: SourceEntry) throws(FileFailure) -> Bool {
    guard FileStamp(try files.status(of: file)) == entry.stamp else {
      reportChange(entry)
      return false
    }
    return true
  }

  package func reportChange(_ entry: SourceEntry) {
    sourceProblems.add(entry.path, .sourceChanged, "changed while it was being packed", hint: Self.changedHint)
  }

  private static let changedHint = "pack again when nothing writes to the directory anymore"
}
