/// Makes and updates corpora.
struct CorpusWriter {
  private let disk = Disk()

  /// Makes the files of a plan below `directory`, which must be empty or not exist.
  func write(_ plan: CorpusPlan, to directory: String) throws(PackError) {
    guard !disk.exists(directory) || disk.isEmptyDirectory(directory) else {
      throw PackError(.outputExists, "\(directory) is not empty", hint: "name another directory, or remove it first")
    }
    try disk.makeDirectories(directory)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(plan.files.reduce(0) { max($0, $1.size) } + 65_536)
    for file in plan.files {
      file.make(in: &bytes)
      try disk.write(bytes.byteSpan, to: "\(directory)/\(file.path)")
    }
  }

  /// The numbers of files that an update changed.
  struct Update: Equatable {
    var edited = 0
    var exportedAgain = 0
    var moved = 0
    var removed = 0
    var added = 0
  }

  /// Changes a tree in place as a new version of a game would: about 3 % of the files. Texts are edited, media files are exported again, and
  /// some files are moved, removed or added.
  func update(_ directory: String, seed: UInt64) throws(PackError) -> Update {
    var noise = Noise(seed: seed)
    var update = Update()
    var bytes: [UInt8] = []
    for item in try disk.tree(directory) where noise.below(100) < 3 {
      let path = "\(directory)/\(item.path)"
      switch noise.below(20) {
      case 0:
        try disk.remove(path)
        update.removed += 1
      case 1, 2:
        try disk.rename(path, to: "\(directory)/moved/\(update.moved)/\(item.path.split(separator: "/").last ?? "file")")
        update.moved += 1
      case 3:
        try disk.read(path, into: &bytes)
        try disk.write(bytes.byteSpan, to: "\(path).new")
        update.added += 1
      default:
        try disk.read(path, into: &bytes)
        if Self.isText(bytes) {
          Self.edit(&bytes, &noise)
          update.edited += 1
        } else {
          Self.exportAgain(&bytes, &noise)
          update.exportedAgain += 1
        }
        try disk.write(bytes.byteSpan, to: path)
      }
    }
    return update
  }

  private static func isText(_ bytes: [UInt8]) -> Bool {
    !bytes.prefix(512).contains { $0 < 9 || $0 > 126 }
  }

  /// Replaces some bytes with other lines.
  private static func edit(_ bytes: inout [UInt8], _ noise: inout Noise) {
    var writer = TextWriter(seed: noise.next())
    for _ in 0..<noise.within(1...6) {
      var lines: [UInt8] = []
      for _ in 0..<noise.within(1...5) { writer.appendLine(.script, to: &lines) }
      let place = noise.below(bytes.count + 1)
      bytes.replaceSubrange(place..<min(bytes.count, place + noise.below(200)), with: lines)
    }
  }

  /// Keeps the header and replaces the compressed content, a little longer or shorter.
  private static func exportAgain(_ bytes: inout [UInt8], _ noise: inout Noise) {
    let size = bytes.count
    bytes.removeLast(max(0, size - 64))
    noise.append(max(0, size / 100 * noise.within(95...105) - bytes.count), to: &bytes)
  }
}
