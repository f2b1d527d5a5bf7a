/// Surveys the entries of all packs: junk and names of secrets in one pack, content that several packs share.
///
/// Takes about 100 bytes of memory for each different file of 4 KiB or more.
final class ContentSurvey: Sendable {
  private let contents = Monitor(SharedContents<String>())
  /// The largest number of paths of a pack that are searched for in its bytes.
  private static let mostPaths = 16

  /// Surveys all entries of one pack.
  func look(into pack: Pack, number: Int, _ found: inout PackContents, _ search: inout PlaintextSearch) throws(PackError) {
    var count = TreeCount()
    var junk: [String] = []
    var developers = UnneededFiles.Search()
    var (pages, media) = (WebPages(), MediaSurvey())
    var sampled = 0
    var contents: [(digest: [UInt8], size: UInt64, path: String)] = []
    let stride = max(1, pack.entryCount / Self.mostPaths)
    var index = 0
    var toFind: [String] = []
    try pack.forEachEntry { (entry) throws(PackError) in
      try count.add(path: Array(entry.path.utf8).byteSpan, kind: entry.kind == .directory ? .directory : .file, size: entry.size)
      let components = entry.path.split(separator: "/")
      if let reason = components.lazy.compactMap({ SourceRules.junk(String($0)) }).first {
        junk.append("'\(printable(entry.path.utf8))' (\(reason))")
      }
      if entry.kind == .file, let reason = developers.reason(for: entry.path) {
        found.unneeded.append("'\(printable(entry.path.utf8))' (\(reason))")
      }
      if entry.kind == .directory { found.emptyDirectories.append("'\(printable(entry.path.utf8))'") }
      if entry.kind == .file {
        pages.add(entry.path)
        media.add(entry.path)
        if let plain = SourceRules.precompressed(entry.path), try pack.find(plain)?.kind != .file { found.precompressed.append(entry.path) }
        if entry.size == 0, UnfitContent.nothing.isUnfit(for: entry.path) {
          found.emptyFiles.append("'\(printable(entry.path.utf8))'")
        }
        if let reason = SourceRules.secret(String(components.last ?? "")) {
          found.secrets.append(
            PackContents.Secret(path: entry.path, rule: SecretRule.fileName, reason: "\(reason) (\(SecretRule.fileName))"))
        }
        if entry.size >= SharedContents<String>.smallest { contents.append((entry.sha256, entry.size, entry.path)) }
      }
      if index % stride == 0, sampled < Self.mostPaths {
        sampled += 1
        toFind.append(entry.path)
      }
      index += 1
    }
    for path in toFind { search.add(path: path) }
    found.lostPage = pages.lost
    // The app itself may decompress and play what it reads of a pack without pages.
    if pages.hasAny {
      for (path, version) in media.all {
        let name = "'\(printable(path.utf8))'"
        if let version { found.newerMedia.append("\(name) (iOS \(version))") } else { found.unplayable.append(name) }
      }
    } else {
      found.precompressed = []
    }
    found.installSize = count.installSize
    found.junk = junk
    self.contents.withLock { shared in
      for (digest, size, path) in contents { shared.add(digest, size: size, in: number, at: path) }
    }
  }

  /// Returns the contents that are in several packs, with the ids of the packs.
  func shared(ids: [String]) -> [SharedContent] {
    contents.withLock { $0.shared() }.map { _, content in
      // Independent of the order of the threads.
      let path = content.places.map(\.place).min() ?? ""
      return SharedContent(packs: content.places.map { ids[$0.pack] }.sorted(), path: path, size: content.size)
    }.sorted { ($1.size, $0.path) < ($0.size, $1.path) }
  }
}

/// The pages of a pack, to find out whether it is a game without an entry page.
private struct WebPages {
  private var hasIndex = false
  /// A page in the shallowest directory, the first in byte order.
  private var first: String?

  mutating func add(_ path: String) {
    let lower = path.lowercased()
    guard lower.hasSuffix(".html") || lower.hasSuffix(".htm") else { return }
    if path == "index.html" { hasIndex = true }
    guard let known = first else {
      first = path
      return
    }
    if Self.rank(path) < Self.rank(known) { first = path }
  }

  var hasAny: Bool { first != nil }

  /// A page, if there are pages but no `index.html` at the root; otherwise nil.
  var lost: String? { hasIndex ? nil : first }

  private static func rank(_ path: String) -> (Int, Int, String) {
    let depth = path.utf8.count { $0 == UInt8(ascii: "/") }
    return (depth, path.lowercased().hasSuffix("index.html") ? 0 : 1, path)
  }
}
