import ArgumentParser

/// `packer cat`
struct Cat: Verb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "cat",
    abstract: "Writes one file of a pack, or a part of it, to standard output.",
    discussion: """
      Only the segments that hold the bytes are read, and each segment is authenticated before its bytes are written. --range \
      counts from 0 and includes both ends, as in HTTP: A-B, A- for the rest, -N for the last N bytes.

      Examples:
        packer cat game.pack index.html --key game.key
        packer cat game.pack img/hero.png --key game.key > hero.png
        packer cat game.pack audio/theme.ogg --range 0-1023 --key game.key
      """)

  @Argument(help: "The pack.", completion: .file())
  var file: String

  @Argument(help: "The path in the pack, as 'packer ls' prints it.")
  var path: String

  // A range may start with a hyphen, like an option.
  @Option(parsing: .unconditional, help: ArgumentHelp("Write only these bytes.", valueName: "a-b"))
  var range: String?

  @OptionGroup var key: KeyOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let range = try range.map { (text) throws(PackError) in try ByteRange(parsing: text) }
    let resolved = try session.key(key, for: file)
    try naming(file) { () throws(PackError) in
      let pack = try Pack.open(file, key: resolved)
      let entry = try find(path, in: pack)
      guard entry.kind == .file else {
        throw isDirectory(path)
      }
      let bytes = try range?.resolved(size: entry.size, path: path) ?? 0..<entry.size
      var remaining = bytes.upperBound - bytes.lowerBound
      try pack.read(entry, range: bytes) { (piece) throws(PackError) in
        try Task.checkCancelled()
        try session.console.stream(piece, remaining: remaining)
        remaining -= UInt64(piece.count)
      }
    }
    return .done
  }

  private func isDirectory(_ path: String) -> PackError {
    PackError(
      .noSuchEntry, "'\(path)' is a directory, not a file", hint: "packer ls \(ShellWord.path(file)) --include \(ShellWord.quoted(path))")
  }

  /// Returns the entry at a path. If there is none, the error names the path that was probably meant.
  private func find(_ path: String, in pack: Pack) throws(PackError) -> Entry {
    do throws(PackError) {
      return try pack.entry(at: path)
    } catch {
      guard error.code == .noSuchEntry else { throw error }
      var nearest = NearestPath(to: path)
      try pack.forEachEntry { (entry) throws(PackError) in
        guard !entry.path.utf8.starts(with: "\(path)/".utf8) else { throw isDirectory(path) }
        nearest.look(at: entry.path)
      }
      guard let other = nearest.path else { throw error }
      throw PackError(
        error.code, "there is no '\(printable(path.utf8))' in the pack (did you mean '\(printable(other.utf8))'?)", advice: error.advice)
    }
  }
}
