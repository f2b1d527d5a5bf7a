/// Surveys the entries of all packs: junk and names of secrets in one pack, content that several packs share.
///
/// Takes about 100 bytes of memory for each different file of 4 KiB or more.
final class ContentSurvey: Sendable {
  private struct State {
    var contents: [[UInt8]: Place] = [:]
  }

  private struct Place {
    var size: UInt64
    /// The first path in byte order, independent of the order of the threads.
    var path: String
    /// The numbers of the packs, unordered.
    var packs: [Int]
  }

  private let state = Monitor(State())

  /// The size in bytes from which shared files are reported. Smaller files are not worth a shared pack.
  private static let smallestShared: UInt64 = 4096
  /// The largest number of paths of a pack that are searched for in its bytes.
  private static let mostPaths = 16

  /// Surveys all entries of one pack.
  func look(into pack: Pack, number: Int, _ found: inout PackContents, _ search: inout PlaintextSearch) throws(PackError) {
    var count = TreeCount()
    var junk: [String] = []
    var developers = UnneededFiles.Search()
    var pages = WebPages()
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
        if entry.size == 0, UnfitContent.nothing.isUnfit(for: entry.path) {
          found.emptyFiles.append("'\(printable(entry.path.utf8))'")
        }
        if let reason = SourceRules.secret(String(components.last ?? "")) {
          found.secrets.append(
            PackContents.Secret(path: entry.path, rule: SecretRule.fileName, reason: "\(reason) (\(SecretRule.fileName))"))
        }
        if entry.size >= Self.smallestShared { contents.append((entry.sha256, entry.size, entry.path)) }
      }
      if index % stride == 0, sampled < Self.mostPaths {
        sampled += 1
        toFind.append(entry.path)
      }
      index += 1
    }
    for path in toFind { search.add(path: path) }
    found.lostPage = pages.lost
    found.installSize = count.installSize
    found.junk = junk
    add(contents, number)
  }

  private func add(
    _ contents: [(digest: [UInt8], size: UInt64, path: String)], _ number: Int
  ) {
    state.withLock { state in
      for content in contents {
        var place = state.contents[content.digest] ?? Place(size: content.size, path: content.path, packs: [])
        if !place.packs.contains(number) { place.packs.append(number) }
        if content.path < place.path { place.path = content.path }
        state.contents[content.digest] = place
      }
    }
  }

  /// Returns the contents that are in several packs, with the ids of the packs.
  func shared(ids: [String]) -> [SharedContent] {
    state.withLock { state in
      state.contents.values.filter { $0.packs.count > 1 }.map { place in
        SharedContent(packs: place.packs.map { ids[$0] }.sorted(), path: place.path, size: place.size)
      }
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

  /// A page, if there are pages but no `index.html` at the root; otherwise nil.
  var lost: String? { hasIndex ? nil : first }

  private static func rank(_ path: String) -> (Int, Int, String) {
    let depth = path.utf8.count { $0 == UInt8(ascii: "/") }
    return (depth, path.lowercased().hasSuffix("index.html") ? 0 : 1, path)
  }
}
