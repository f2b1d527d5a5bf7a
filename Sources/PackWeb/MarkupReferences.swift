/// The references of an HTML or SVG file.
struct MarkupReferences {
  private let isXML: Bool
  private var tokens: MarkupTokenizer
  private var list: WebReferences
  /// The open elements that decide whether names mean HTML.
  private var places: [Place] = []
  /// The number of open `template` elements.
  private var templates = 0
  /// The number of open `object` elements, whose content is shown only if they fail.
  private var objects = 0
  /// The sources of the open `picture`, `audio` or `video`.
  private var sources: Sources?
  /// A `style` or `script` of SVG, whose content is text with character references.
  private var text: (name: String, isModule: Bool, start: Int, bytes: [UInt8])?

  private enum Place {
    case svg
    case math
    /// HTML inside SVG or MathML.
    case html
  }

  private struct Sources {
    let element: String
    let set: Int
    let isCertain: Bool
  }

  private init(_ bytes: [UInt8], _ list: WebReferences, isXML: Bool) {
    self.isXML = isXML
    tokens = MarkupTokenizer(bytes)
    self.list = list
  }

  static func add(to list: inout WebReferences, _ bytes: [UInt8], isXML: Bool) {
    // Moved, because a shared list would be copied.
    var reader = Self(bytes, WebReferences(), isXML: isXML)
    swap(&reader.list, &list)
    reader.run()
    swap(&reader.list, &list)
  }

  private mutating func run() {
    while true {
      tokens.hasSections = isXML || isForeign
      guard let token = tokens.next() else { break }
      switch token {
      case .start(let name, let attributes, let isSelfClosing):
        // XML may have prefixes.
        let local = isXML ? String(name.split(separator: ":").last ?? "") : name
        start(Tag(name: local, attributes: attributes, offset: tokens.start), isSelfClosing: isSelfClosing)
      case .end(let name): end(isXML ? String(name.split(separator: ":").last ?? "") : name)
      case .text(let range): text?.bytes += tokens.bytes[range]
      }
    }
    endText()
  }

  private var isForeign: Bool {
    switch places.last {
    case .svg, .math: true
    case .html, nil: false
    }
  }

  private func isCertain(_ tag: Tag) -> Bool {
    // Pages often replace what fails.
    templates == 0 && tag["onerror"] == nil
  }

  private mutating func add(_ value: String?, _ use: WebReference.Use, _ tag: Tag, isCertain: Bool) {
    guard let value else { return }
    list.add(value, use, isCertain: isCertain && self.isCertain(tag), at: tag.offset)
  }

  // MARK: Structure

  private mutating func start(_ tag: Tag, isSelfClosing: Bool) {
    if isForeign, !isXML, Self.leavesForeign(tag) { places.removeAll() }
    if let style = tag["style"], style.utf8.contains(UInt8(ascii: "(")) {
      let bytes = Array(style.utf8)
      StyleReferences.add(to: &list, bytes, 0..<bytes.count, at: tag.offset)
    }
    if isXML || isForeign || tag.name == "svg" || tag.name == "math" {
      drawing(tag)
      if !isSelfClosing { open(tag) }
    } else {
      element(tag)
      content(of: tag)
    }
  }

  private mutating func open(_ tag: Tag) {
    switch tag.name {
    case "svg": places.append(.svg)
    case "math": places.append(.math)
    case "foreignobject", "desc", "title": if places.last == .svg { places.append(.html) }
    case "mi", "mo", "mn", "ms", "mtext", "annotation-xml": if places.last == .math { places.append(.html) }
    case "style", "script":
      if tag.name == "style" || tag.runs { text = (tag.name, tag.isModule, tokens.index, []) }
    default: break
    }
  }

  private mutating func end(_ name: String) {
    if text?.name == name { endText() }
    switch name {
    case "svg", "math": if let place = places.lastIndex(where: { $0 == (name == "svg" ? .svg : .math) }) { places.removeSubrange(place...) }
    case "foreignobject", "desc", "title", "mi", "mo", "mn", "ms", "mtext", "annotation-xml":
      if places.last == .html { places.removeLast() }
    case "template": templates = max(0, templates - 1)
    case "object": objects = max(0, objects - 1)
    case "picture", "audio", "video": if sources?.element == name { sources = nil }
    default: break
    }
  }

  private mutating func endText() {
    guard let text else { return }
    self.text = nil
    if text.name == "style" {
      StyleReferences.add(to: &list, text.bytes, 0..<text.bytes.count, isCertain: templates == 0, at: text.start)
    } else {
      ScriptReferences.add(to: &list, text.bytes, 0..<text.bytes.count, isModule: text.isModule, isCertain: templates == 0, at: text.start)
    }
  }

  /// Whether a start tag of HTML ends `svg` and `math` (§13.2.6.5).
  private static func leavesForeign(_ tag: Tag) -> Bool {
    switch tag.name {
    case "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2", "h3", "h4", "h5",
      "h6",
      "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre", "ruby", "s", "small", "span", "strong", "strike",
      "sub", "sup", "table", "tt", "u", "ul", "var":
      true
    default: false
    }
  }

  /// Skips the content of an element that has no tags, and reads it if it is a style sheet or a script.
  private mutating func content(of tag: Tag) {
    switch tag.name {
    // Scripting is on, so `noscript` is text.
    case "title", "textarea", "xmp", "iframe", "noembed", "noframes", "noscript": _ = tokens.skipContent(of: tag.name, .plain)
    case "plaintext": _ = tokens.skipContent(of: tag.name, .endless)
    case "style":
      let range = tokens.skipContent(of: tag.name, .plain)
      guard tag.isStyle else { return }
      StyleReferences.add(to: &list, tokens.bytes, range, isCertain: templates == 0 && tag.isForScreens)
    case "script":
      let range = tokens.skipContent(of: tag.name, .script)
      guard tag["src"] == nil else { return }
      if tag["type"]?.lowercased() == "importmap" {
        if templates == 0 { list.importMaps.append(String(decoding: tokens.bytes[range], as: UTF8.self)) }
      } else if tag.runs {
        ScriptReferences.add(to: &list, tokens.bytes, range, isModule: tag.isModule, isCertain: templates == 0)
      }
    default: break
    }
  }

  // MARK: Elements

  private mutating func element(_ tag: Tag) {
    switch tag.name {
    case "base":
      if list.base == nil, templates == 0, let address = tag["href"] {
        // One that is not kept may lead anywhere.
        list.base = WebAddress.isSkipped(address) ? "about:base" : address
      }
    case "template": templates += 1
    case "script":
      guard tag.runs else { return }
      add(tag["src"], tag.isModule ? .module : .script, tag, isCertain: tag["nomodule"] == nil)
    case "link": link(tag)
    case "meta":
      if tag["http-equiv"]?.lowercased() == "refresh", let content = tag["content"] {
        add(Self.refresh(content), .page, tag, isCertain: true)
      }
    case "img", "image": image(tag)
    case "source": source(tag)
    case "picture": sources = Sources(element: tag.name, set: list.makeSet(), isCertain: true)
    case "audio", "video":
      let isCertain = tag["preload"]?.lowercased() != "none" || tag["autoplay"] != nil
      add(tag["src"], .content, tag, isCertain: isCertain)
      add(tag["poster"], .content, tag, isCertain: true)
      sources = Sources(element: tag.name, set: list.makeSet(), isCertain: tag["src"] == nil && isCertain)
    case "track": add(tag["src"], .content, tag, isCertain: tag["default"] != nil)
    case "iframe", "frame":
      guard tag["srcdoc"] == nil else { return }
      add(tag["src"], .page, tag, isCertain: objects == 0 && tag["loading"]?.lowercased() != "lazy")
    case "embed": add(tag["src"], .page, tag, isCertain: objects == 0 && !tag.isPlugin)
    case "object":
      add(tag["data"], .page, tag, isCertain: objects == 0 && !tag.isPlugin)
      objects += 1
    case "input": if tag["type"]?.lowercased() == "image" { add(tag["src"], .content, tag, isCertain: true) }
    case "a", "area": add(tag["href"], .link, tag, isCertain: false)
    case "body", "table", "td", "th": add(tag["background"], .content, tag, isCertain: false)
    default: break
    }
  }

  private mutating func link(_ tag: Tag) {
    let words = (tag["rel"] ?? "").lowercased().split { $0 == " " || $0 == "\t" || $0 == "\n" }
    func has(_ word: String) -> Bool { words.contains { $0 == word } }
    if has("stylesheet") {
      guard tag.isStyle else { return }
      add(tag["href"], .style, tag, isCertain: !has("alternate") && tag["disabled"] == nil && tag.isForScreens)
    } else if has("manifest") {
      add(tag["href"], .manifest, tag, isCertain: false)
    } else if words.contains(where: {
      [
        "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "apple-touch-startup-image", "mask-icon", "preload", "modulepreload",
        "prefetch",
      ].contains($0)
    }) {
      add(tag["href"], .content, tag, isCertain: false)
    }
  }

  private mutating func image(_ tag: Tag) {
    // Without a source, an image is filled by a script.
    let candidates = SourceSet.addresses(tag["srcset"] ?? "")
    if candidates.isEmpty, sources?.element != "picture" {
      add(tag["src"], .content, tag, isCertain: true)
      return
    }
    let set = sources?.element == "picture" ? sources?.set : list.makeSet()
    for address in candidates + [tag["src"]].compactMap(\.self) {
      list.add(address, .content, isCertain: isCertain(tag), alternatives: set, at: tag.offset)
    }
  }

  private mutating func source(_ tag: Tag) {
    guard let sources else { return }
    let addresses = sources.element == "picture" ? SourceSet.addresses(tag["srcset"] ?? "") : [tag["src"]].compactMap(\.self)
    for address in addresses {
      list.add(address, .content, isCertain: sources.isCertain && isCertain(tag), alternatives: sources.set, at: tag.offset)
    }
  }

  /// Elements of SVG.
  private mutating func drawing(_ tag: Tag) {
    let address = tag["href"] ?? tag["xlink:href"]
    switch tag.name {
    case "image", "feimage", "use": add(address, .content, tag, isCertain: true)
    case "script":
      guard tag.runs else { return }
      add(address ?? (isXML ? tag["src"] : nil), tag.isModule ? .module : .script, tag, isCertain: true)
    case "a": add(address, .link, tag, isCertain: false)
    // HTML inside XML.
    case "img", "link", "iframe", "audio", "video", "source", "input", "embed", "object": if isXML { element(tag) }
    default: break
    }
  }

  /// Returns the address in the content of `meta http-equiv=refresh` (§4.2.5.3).
  private static func refresh(_ content: String) -> String? {
    var rest = content.utf8.drop { isSpace($0) || isDigit($0) || $0 == UInt8(ascii: ".") }
    guard let first = rest.first, first == UInt8(ascii: ";") || first == UInt8(ascii: ",") else { return nil }
    rest = rest.dropFirst().drop(while: isSpace)
    if Substring(rest).lowercased().hasPrefix("url") {
      let after = rest.dropFirst(3).drop(while: isSpace)
      if after.first == UInt8(ascii: "=") { rest = after.dropFirst().drop(while: isSpace) }
    }
    if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") { rest = rest.dropFirst().prefix { $0 != quote } }
    return rest.isEmpty ? nil : String(Substring(rest))
  }
}

/// A start tag.
private struct Tag {
  let name: String
  let attributes: [MarkupTokenizer.Attribute]
  let offset: Int

  subscript(_ name: String) -> String? { attributes.first { $0.name == name }?.value }

  /// Whether a script with this tag is run, not only kept as data.
  var runs: Bool { isModule || type.map(Self.scriptTypes.contains) ?? true }

  var isModule: Bool { type == "module" }

  /// Whether its style sheet is CSS.
  var isStyle: Bool { type.map { $0 == "text/css" } ?? true }

  /// Whether its style sheet is for every screen.
  var isForScreens: Bool { self["media"].map { ["", "all", "screen"].contains($0.lowercased()) } ?? true }

  /// Whether its content is one for plugins, which browsers no longer have.
  var isPlugin: Bool { type.map { $0.hasPrefix("application/x-") } ?? false }

  /// The type without blanks around it; nil if it is missing or empty.
  private var type: String? {
    let bytes = (self["type"] ?? "").utf8.split(whereSeparator: isSpace)
    return bytes.isEmpty ? nil : bytes.map { String(Substring($0)).lowercased() }.joined(separator: " ")
  }

  private static let scriptTypes: Set<String> = [
    "text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript", "application/ecmascript",
    "text/x-javascript",
    "text/jscript", "text/livescript", "application/x-ecmascript", "text/x-ecmascript",
  ]
}

/// The candidates of `srcset` (WHATWG HTML §4.8.4.2.2).
enum SourceSet {
  static func addresses(_ text: String) -> [String] {
    var addresses: [String] = []
    var rest = text.utf8[...]
    while true {
      rest = rest.drop { isSpace($0) || $0 == UInt8(ascii: ",") }
      guard !rest.isEmpty else { return addresses }
      var address = rest.prefix { !isSpace($0) }
      rest = rest[address.endIndex...]
      let hasComma = address.last == UInt8(ascii: ",")
      while address.last == UInt8(ascii: ",") { address = address.dropLast() }
      if !address.isEmpty { addresses.append(String(Substring(address))) }
      guard !hasComma else { continue }
      // The descriptors, in which commas may be in parentheses.
      var isInside = false
      rest = rest.drop { byte in
        if byte == UInt8(ascii: "(") { isInside = true }
        if byte == UInt8(ascii: ")") { isInside = false }
        return isInside || byte != UInt8(ascii: ",")
      }
    }
  }
}
