/// Compares two versions of a pack, and finds changes that make an update large although little of what players see changed.
///
/// Reads at most 256 KiB of each of 256 changed files, in both packs.
struct UpdateBurdenSearch {
  private let old: Pack
  private let new: Pack
  private let download: UInt64

  /// Smaller updates, and smaller files, are not worth a person's time.
  static let least: UInt64 = 64 << 10
  private static let mostCompared = 256
  private static let sampleSize: UInt64 = 256 << 10
  /// The largest number of bytes by which files with a stamp differ.
  private static let stampSize = 64
  /// The smallest number of files with a stamp.
  private static let fewestStamps = 10

  /// - Parameter download: The bytes that players of the old version download.
  init(from old: Pack, to new: Pack, download: UInt64) {
    (self.old, self.new, self.download) = (old, new, download)
  }

  /// A file of both versions, with different content.
  private struct Change {
    let old: Entry
    let new: Entry
    /// The number of bytes at the same place that differ, and of those that were compared.
    var differing = 0
    var compared = 0

    var path: String { new.path }
    /// Nearly the same size: at most a twentieth apart.
    var hasLikeSize: Bool { max(old.size, new.size) - min(old.size, new.size) <= new.size / 20 }
    /// Nearly all bytes differ. Of random ones, one in 256 is equal.
    var isAllNew: Bool { compared > 0 && differing * 20 >= compared * 19 }
    var isStamped: Bool { old.size == new.size && differing > 0 && differing <= stampSize }
  }

  func run(id: String, version: UInt64) throws(PackError) -> [UpdateBurden] {
    let changes = try changes()
    func burden(_ reason: UpdateBurden.Reason, _ files: [Change]) -> UpdateBurden {
      UpdateBurden(
        id: id, version: version, download: download, reason: reason, paths: files.map(\.path),
        size: files.reduce(0) { $0.adding($1.new.size) })
    }
    func isMuch(_ files: [Change]) -> Bool { files.reduce(0) { $0.adding($1.new.size) } >= max(Self.least, download / 4) }
    let archives = changes.filter { Self.isOne(of: Self.archives, $0.path) && $0.new.size >= Self.least }
    let again = changes.filter {
      Self.isOne(of: Self.media, $0.path) && $0.new.size >= Self.least && $0.hasLikeSize && $0.isAllNew
    }
    let stamped = changes.filter { !Self.isOne(of: Self.media + Self.archives, $0.path) && $0.isStamped }
    var burdens: [UpdateBurden] = []
    if isMuch(archives) { burdens.append(burden(.archive, archives)) }
    if isMuch(again) { burdens.append(burden(.encodedAgain, again)) }
    if stamped.count >= Self.fewestStamps, stamped.count * 2 >= changes.count { burdens.append(burden(.stamps, stamped)) }
    return burdens
  }

  /// Returns the files that both versions have with different content, the largest first.
  private func changes() throws(PackError) -> [Change] {
    var earlier: [String: Entry] = [:]
    try old.forEachEntry { entry in if entry.kind == .file, entry.size > 0 { earlier[entry.path] = entry } }
    var changes: [Change] = []
    try new.forEachEntry { entry in
      guard entry.kind == .file, entry.size > 0, let before = earlier[entry.path], before.sha256 != entry.sha256 else { return }
      changes.append(Change(old: before, new: entry))
    }
    changes.sort { ($1.new.size, $0.path) < ($0.new.size, $1.path) }
    for index in changes.indices.prefix(Self.mostCompared) { try compare(&changes[index]) }
    return changes
  }

  private func compare(_ change: inout Change) throws(PackError) {
    let count = min(change.old.size, change.new.size, Self.sampleSize)
    let before = try old.read(change.old.path, range: 0..<count)
    let after = try new.read(change.new.path, range: 0..<count)
    change.compared = Int(count)
    for (left, right) in zip(before, after) where left != right { change.differing += 1 }
  }

  private static let archives = ["zip", "gz", "tgz", "xz", "zst", "br", "7z", "rar", "bz2", "jar", "unityweb"]
  private static let media = [
    "png", "jpg", "jpeg", "webp", "avif", "gif", "ogg", "mp3", "m4a", "aac", "opus", "flac", "mp4", "webm", "mov", "ktx2", "basis",
  ]

  private static func isOne(of extensions: [String], _ path: String) -> Bool {
    guard let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
    return extensions.contains(path[path.utf8.index(after: dot)...].lowercased())
  }
}
