/// How a game's own page names and shows it: its title, and its icon.
struct GameFace: Sendable {
  /// The title of the page; nil if it has none.
  private(set) var title: String?
  /// The path of an icon that is a file of the game; nil if there is none.
  private(set) var icon: String?

  /// The size in bytes of the largest page or web manifest that is read.
  private static let largestPage: UInt64 = 1 << 20
  private static let longestTitle = 100
  /// The size in bytes of the largest icon that is shown.
  static let largestIcon: UInt64 = 1 << 20

  /// Reads the head of the index page, and the web manifest that it names.
  ///
  /// - Throws: the error of a damaged pack.
  init(of content: GameContent) throws(PackError) {
    let index = PackResponder.Options().indexName
    guard let page = try content.bytes(of: index, limit: Self.largestPage) else { return }
    let tokens = MarkupTokenizer(page)
    var (icons, manifest): ([String], String?) = ([], nil)
    reading: while let token = tokens.next() {
      guard case .start(let name, let attributes, _) = token else { continue }
      func value(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
      switch name {
      case "title":
        if title == nil { title = Self.title(page[tokens.skipContent(of: name, .plain)]) }
      case "script": _ = tokens.skipContent(of: name, .script)
      case "style", "noscript": _ = tokens.skipContent(of: name, .plain)
      case "link":
        let kinds = (value("rel") ?? "").lowercased().split(whereSeparator: \.isWhitespace)
        guard let address = value("href"), let path = Self.path(address, from: index) else { break }
        // The large icons of home screens come first.
        if kinds.contains("apple-touch-icon") { icons.insert(path, at: 0) } else if kinds.contains("icon") { icons.append(path) }
        if kinds.contains("manifest") { manifest = path }
      case "body": break reading
      default: break
      }
    }
    if let manifest, let bytes = try content.bytes(of: manifest, limit: Self.largestPage) {
      let images = WebReferences(in: bytes, .manifest).all.filter { $0.use == .content }
      icons += images.compactMap { Self.path($0.value, from: manifest) }
    }
    for path in icons + ["favicon.ico", "icon.png"] where try content.hasFile(path) {
      icon = path
      break
    }
  }

  private static func title(_ bytes: ArraySlice<UInt8>) -> String? {
    let words = CharacterReferences.value(of: bytes).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return words.isEmpty ? nil : String(words.prefix(longestTitle))
  }

  /// Returns the path in the game of an address; nil if it leads elsewhere.
  private static func path(_ address: String, from file: String) -> String? {
    guard case .path(let path) = WebAddress(address, from: "/\(RequestTarget.encoded(file))") else { return nil }
    return RequestTarget(path)?.path
  }
}
