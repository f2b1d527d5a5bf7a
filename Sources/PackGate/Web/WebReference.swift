/// A reference from one file of a pack to another.
package struct WebReference: Sendable {
  /// What a browser does with a reference.
  package enum Use: Hashable, Sendable {
    /// It shows or plays the file, or stores it.
    case content
    /// It shows the file as a page in a frame, or goes to it.
    case page
    case script
    /// A module, by its address: `script type=module`.
    case module
    /// The specifier of an `import` in a module.
    case specifier
    case style
    /// A web app manifest, whose references are notes.
    case manifest
    /// A link that a person follows. What is on other hosts does not matter.
    case link
    /// An address in a script, relative to the page or to the script.
    case address
    /// A name that is perhaps never loaded, such as one that a script gives to a property. Only its case matters.
    case mention
  }

  /// The address as it is written, with character references and escapes replaced.
  package var value: String
  package var use: Use
  /// Whether a browser that shows the file loads it in any case.
  package var isCertain: Bool
  /// The number of a set of alternatives, such as the sources of a font: a browser needs only one of them.
  package var alternatives: Int?
  /// Whether a missing one is of no interest if another one of the set is there.
  package var isOptional = false
  /// The line in the file, from 1.
  package var line: Int

  /// Whether there is a backslash in its path.
  package var hasBackslash: Bool {
    value.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }.contains(UInt8(ascii: "\\"))
  }

  package init(_ value: String, _ use: Use, isCertain: Bool, alternatives: Int? = nil, isOptional: Bool = false, line: Int = 1) {
    (self.value, self.use, self.isCertain, self.alternatives, self.isOptional, self.line) = (
      value, use, isCertain, alternatives, isOptional, line
    )
  }
}

/// The references of one file.
package struct WebReferences: Sendable {
  /// In the order in which they are in the file; at most ``most``.
  package private(set) var all: [WebReference] = []
  /// The address in `<base href>`.
  package internal(set) var base: String?
  /// The texts of import maps, in order.
  package internal(set) var importMaps: [String] = []

  /// The encoding that a text names which is not in UTF-8, in lower case, empty if it names none; nil for a text in UTF-8.
  package private(set) var otherEncoding: String?

  /// The line with the first registration of a service worker, from 1; nil if there is none.
  package private(set) var serviceWorkerLine: Int?

  /// The largest number of references that are kept for a file.
  package static let most = 10_000

  private var lines: LineCount
  private var sets = 0

  /// An empty list, without a file.
  init() { lines = LineCount([]) }

  /// Starts another set of alternatives, and returns its number.
  mutating func makeSet() -> Int {
    sets += 1
    return sets
  }

  /// - Parameter offset: the place of the reference, not before that of the last one.
  @inline(never)
  mutating func add(
    _ value: String, _ use: WebReference.Use, isCertain: Bool, alternatives: Int? = nil, isOptional: Bool = false, at offset: Int
  ) {
    guard all.count < Self.most else { return }
    // Data in an address may be large, and only its presence matters.
    let value = value.hasPrefix("data:") ? "data:" : value
    guard !WebAddress.isSkipped(value) else { return }
    all.append(
      WebReference(value, use, isCertain: isCertain, alternatives: alternatives, isOptional: isOptional, line: lines.line(at: offset)))
  }

  /// - Parameter offset: the place of the registration, not before that of the last reference.
  mutating func addServiceWorker(at offset: Int) {
    if serviceWorkerLine == nil { serviceWorkerLine = lines.line(at: offset) }
  }

  /// The references of a file, which its path says the kind of; none for other files.
  package init(in bytes: [UInt8], _ path: String) {
    guard let kind = WebFileKind(path: path) else {
      self.init()
      return
    }
    self.init(in: bytes, kind)
  }

  /// Returns the encoding that the start of a page, a style sheet or an XML file names; empty if there is none.
  private static func declaredEncoding(_ start: ArraySlice<UInt8>) -> String {
    let text = String(decoding: start.map { $0 < 0x80 ? $0 : 0x20 }, as: UTF8.self).lowercased()
    let match = text.firstMatch(of: /(?:charset|encoding)\s*=?\s*["']?\s*([a-z0-9_:.-]+)/)
    return match.map { String($0.1) } ?? ""
  }

  /// The references of a file of some kind.
  package init(in bytes: [UInt8], _ kind: WebFileKind) {
    self.init()
    // No browser takes UTF-16 for the encoding of these files without a byte order mark.
    guard !bytes.starts(with: [0xFE, 0xFF]), !bytes.starts(with: [0xFF, 0xFE]) else { return }
    if String(validUTF8: bytes) == nil { otherEncoding = Self.declaredEncoding(bytes.prefix(1024)) }
    lines = LineCount(bytes)
    switch kind {
    case .page: MarkupReferences.add(to: &self, bytes, isXML: false)
    case .xml: MarkupReferences.add(to: &self, bytes, isXML: true)
    case .style: StyleReferences.add(to: &self, bytes, 0..<bytes.count)
    case .script: ScriptReferences.add(to: &self, bytes, 0..<bytes.count)
    case .manifest: ManifestReferences.add(to: &self, bytes)
    }
    lines = LineCount([])
  }
}

/// The kinds of files whose references are read.
package enum WebFileKind: Sendable {
  case page
  /// SVG, and XHTML.
  case xml
  case style
  case script
  /// A web app manifest.
  case manifest

  /// The kind of a file by its path; nil if it has no references that are read.
  package init?(path: String) {
    let bytes = Array(path.utf8)
    guard let dot = bytes.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    switch String(decoding: bytes[(dot + 1)...], as: UTF8.self).lowercased() {
    case "html", "htm": self = .page
    case "svg", "xhtml": self = .xml
    case "css": self = .style
    case "js", "mjs": self = .script
    case "webmanifest": self = .manifest
    default: return nil
    }
  }
}

/// Counts lines up to ascending offsets, in one pass.
struct LineCount: Sendable {
  private let bytes: [UInt8]
  private var offset = 0
  private var line = 1

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func line(at target: Int) -> Int {
    while offset < min(target, bytes.count) {
      let byte = bytes[offset]
      offset += 1
      if byte == 0x0A || byte == 0x0D && !(offset < bytes.count && bytes[offset] == 0x0A) { line += 1 }
    }
    return line
  }
}
