/// The sounds and films of a pack that web views do not play, or only those of newer systems, by their names.
struct MediaSurvey {
  /// What no web view plays.
  private static let unplayable: Set = ["ogv", "mkv", "avi", "wmv", "wma", "flv", "swf", "mid", "midi"]
  /// What web views play from a version of iOS on (Safari's release notes).
  private static let versions = ["ogg": "18.4", "oga": "18.4", "opus": "18.4", "webm": "17.4", "weba": "17.4"]
  /// What all play. A file of the same name beside another one is meant for those that need it.
  private static let playable: Set = ["mp3", "m4a", "aac", "wav", "caf", "mp4", "m4v", "mov", "m3u8"]

  private var found: [(path: String, stem: String, version: String?)] = []
  private var stems: Set<String> = []

  mutating func add(_ path: String) {
    guard let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")) else { return }
    let ending = String(path[path.utf8.index(after: dot)...]).lowercased()
    let version = Self.versions[ending]
    if version != nil || Self.unplayable.contains(ending) {
      found.append((path, String(path[..<dot]), version))
    } else if Self.playable.contains(ending) {
      stems.insert(String(path[..<dot]))
    }
  }

  /// The files without another format beside them, each with the version of iOS from which on it is played; nil for no version.
  var all: [(path: String, version: String?)] { found.filter { !stems.contains($0.stem) }.map { ($0.path, $0.version) } }
}
