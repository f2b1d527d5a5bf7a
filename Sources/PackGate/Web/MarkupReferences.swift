/// The references of an HTML or SVG file.
final class MarkupReferences {
  private let isXML: Bool
  private let tokens: MarkupTokenizer
  private var list: WebReferences
  /// The open elements that decide whether names mean HTML.
  private var places: [Place] = []
  /// The number of open `template` elements.
  private var templates = 0
  /// The number of open `object` elements, whose content is shown only if they fail.
  private var objects = 0
  /// The sources of the open `picture`, `audio` or `video`.
  private var sources: Candidates?
  /// A `style` or `script` of SVG, whose content is text with character references.
  private var text: (element: Element, isModule: Bool, start: Int, bytes: [UInt8])?

  private enum Place {
    case svg
    case math
    /// HTML inside SVG or MathML.
    case html
  }

  private struct Candidates {
    let element: Element
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
    let reader = MarkupReferences(bytes, WebReferences(), isXML: isXML)
    swap(&reader.list, &list)
    reader.run()
    swap(&reader.list, &list)
  }

  private func run() {
    while true {
      tokens.hasSections = isXML || isForeign
      guard let token = tokens.next() else { break }
      switch token {
      case .start(let name, let attributes, let isSelfClosing):
        start(Tag(local(name), attributes, offset: tokens.start), isSelfClosing: isSelfClosing)
      case .end(let name): end(Element(rawValue: local(name)) ?? .other)
      case .text(let range): text?.bytes += tokens.bytes[range]
      }
    }
    endText()
  }

  /// The name without the prefix that it may have in XML.
  private func local(_ name: String) -> String {
    guard isXML, let colon = name.utf8.lastIndex(of: UInt8(ascii: ":")) else { return name }
    return String(name[name.utf8.index(after: colon)...])
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

  private func add(_ attribute: String, _ use: WebReference.Use, _ tag: Tag, isCertain: Bool) {
    add(value: tag[attribute], use, tag, isCertain: isCertain)
  }

  private func add(value: String?, _ use: WebReference.Use, _ tag: Tag, isCertain: Bool) {
    guard let value else { return }
    list.add(value, use, isCertain: isCertain && self.isCertain(tag), at: tag.offset)
  }

  // MARK: Structure

  private func start(_ tag: Tag, isSelfClosing: Bool) {
    if isForeign, !isXML, Tag.leaving.contains(tag.name) { places.removeAll() }
    if let style = tag["style"], style.utf8.contains(UInt8(ascii: "(")) {
      let bytes = Array(style.utf8)
      StyleReferences.add(to: &list, bytes, 0..<bytes.count, at: tag.offset)
    }
    if isXML || isForeign || tag.element == .svg || tag.element == .math {
      drawing(tag)
      if !isSelfClosing { open(tag) }
    } else {
      element(tag)
      content(of: tag)
    }
  }

  private func open(_ tag: Tag) {
    switch tag.element {
    case .svg: places.append(.svg)
    case .math: places.append(.math)
    case .foreignObject, .desc, .title: if places.last == .svg { places.append(.html) }
    case .mi, .mo, .mn, .ms, .mtext, .annotation: if places.last == .math { places.append(.html) }
    case .style, .script:
      if tag.element == .style || tag.runs { text = (tag.element, tag.isModule, tokens.index, []) }
    default: break
    }
  }

  private func end(_ element: Element) {
    if text?.element == element { endText() }
    switch element {
    case .svg, .math:
      if let place = places.lastIndex(of: element == .svg ? .svg : .math) { places.removeSubrange(place...) }
    case .foreignObject, .desc, .title, .mi, .mo, .mn, .ms, .mtext, .annotation: if places.last == .html { places.removeLast() }
    case .template: templates = max(0, templates - 1)
    case .object: objects = max(0, objects - 1)
    case .picture, .audio, .video: if sources?.element == element { sources = nil }
    default: break
    }
  }

  private func endText() {
    guard let text else { return }
    self.text = nil
    if text.element == .style {
      StyleReferences.add(to: &list, text.bytes, 0..<text.bytes.count, isCertain: templates == 0, at: text.start)
    } else {
      ScriptReferences.add(to: &list, text.bytes, 0..<text.bytes.count, isModule: text.isModule, isCertain: templates == 0, at: text.start)
    }
  }

  /// Skips the content of an element that has no tags, and reads it if it is a style sheet or a script.
  private func content(of tag: Tag) {
    switch tag.element {
    // Scripting is on, so `noscript` is text.
    case .title, .textarea, .xmp, .iframe, .noembed, .noframes, .noscript: _ = tokens.skipContent(of: tag.name, .plain)
    case .plaintext: _ = tokens.skipContent(of: tag.name, .endless)
    case .style:
      let range = tokens.skipContent(of: tag.name, .plain)
      guard tag.isStyle else { return }
      StyleReferences.add(to: &list, tokens.bytes, range, isCertain: templates == 0 && tag.isForScreens)
    case .script:
      let range = tokens.skipContent(of: tag.name, .script)
      guard tag["src"] == nil else { return }
      if tag.has("type", "importmap") {
        if templates == 0 { list.importMaps.append(String(decoding: tokens.bytes[range], as: UTF8.self)) }
      } else if tag.runs {
        ScriptReferences.add(to: &list, tokens.bytes, range, isModule: tag.isModule, isCertain: templates == 0)
      }
    default: break
    }
  }

  // MARK: Elements

  private func element(_ tag: Tag) {
    switch tag.element {
    case .base:
      if list.base == nil, templates == 0, let address = tag["href"] {
        // One that is not kept may lead anywhere.
        list.base = WebAddress.isSkipped(address) ? "about:base" : address
      }
    case .template: templates += 1
    case .script:
      guard tag.runs else { return }
      add("src", tag.isModule ? .module : .script, tag, isCertain: tag["nomodule"] == nil)
    case .link: link(tag)
    case .meta:
      if tag.has("http-equiv", "refresh"), let content = tag["content"] {
        add(value: Self.refresh(content), .page, tag, isCertain: true)
      }
    case .img, .image: image(tag)
    case .source: source(tag)
    case .picture: sources = Candidates(element: tag.element, set: list.makeSet(), isCertain: true)
    case .audio, .video:
      let isCertain = !tag.has("preload", "none") || tag["autoplay"] != nil
      add("src", .content, tag, isCertain: isCertain)
      add("poster", .content, tag, isCertain: true)
      sources = Candidates(element: tag.element, set: list.makeSet(), isCertain: tag["src"] == nil && isCertain)
    case .track: add("src", .content, tag, isCertain: tag["default"] != nil)
    case .iframe, .frame:
      guard tag["srcdoc"] == nil else { return }
      add("src", .page, tag, isCertain: objects == 0 && !tag.has("loading", "lazy"))
    case .embed: add("src", .page, tag, isCertain: objects == 0 && !tag.isPlugin)
    case .object:
      add("data", .page, tag, isCertain: objects == 0 && !tag.isPlugin)
      objects += 1
    case .input: if tag.has("type", "image") { add("src", .content, tag, isCertain: true) }
    case .a, .area: add("href", .link, tag, isCertain: false)
    case .body, .table, .td, .th: add("background", .content, tag, isCertain: false)
    default: break
    }
  }

  private func link(_ tag: Tag) {
    let types = Array((tag["rel"] ?? "").lowercased().utf8).split(whereSeparator: isSpace).map { String(decoding: $0, as: UTF8.self) }
    if types.contains("stylesheet") {
      guard tag.isStyle else { return }
      add("href", .style, tag, isCertain: !types.contains("alternate") && tag["disabled"] == nil && tag.isForScreens)
    } else if types.contains("manifest") {
      add("href", .manifest, tag, isCertain: false)
    } else {
      add("href", types.contains(where: Tag.linkTypes.contains) ? .content : .mention, tag, isCertain: false)
    }
  }

  private func image(_ tag: Tag) {
    // Without a source, an image is filled by a script.
    let candidates = SourceSet.addresses(tag["srcset"] ?? "")
    if candidates.isEmpty, sources?.element != .picture {
      add("src", .content, tag, isCertain: true)
      return
    }
    let set = sources?.element == .picture ? sources?.set : list.makeSet()
    for address in candidates + [tag["src"]].compactMap(\.self) {
      list.add(address, .content, isCertain: isCertain(tag), alternatives: set, at: tag.offset)
    }
  }

  private func source(_ tag: Tag) {
    guard let sources else { return }
    let addresses = sources.element == .picture ? SourceSet.addresses(tag["srcset"] ?? "") : [tag["src"]].compactMap(\.self)
    for address in addresses {
      list.add(address, .content, isCertain: sources.isCertain && isCertain(tag), alternatives: sources.set, at: tag.offset)
    }
  }

  /// Elements of SVG.
  private func drawing(_ tag: Tag) {
    let address = tag["href"] ?? tag["xlink:href"]
    switch tag.element {
    case .image, .feImage, .use: add(value: address, .content, tag, isCertain: true)
    case .script:
      guard tag.runs else { return }
      add(value: address ?? (isXML ? tag["src"] : nil), tag.isModule ? .module : .script, tag, isCertain: true)
    case .a: add(value: address, .link, tag, isCertain: false)
    // HTML inside XML.
    case .img, .link, .iframe, .audio, .video, .source, .input, .embed, .object: if isXML { element(tag) }
    default: break
    }
  }

  /// Returns the address in the content of `meta http-equiv=refresh` (§4.2.5.3).
  private static func refresh(_ content: String) -> String? {
    var rest = Array(content.utf8).drop { isSpace($0) || isDigit($0) || $0 == UInt8(ascii: ".") }
    guard let first = rest.first, first == UInt8(ascii: ";") || first == UInt8(ascii: ",") else { return nil }
    rest = rest.dropFirst().drop(while: isSpace)
    if isWord(rest.prefix(3), "url") {
      let after = rest.dropFirst(3).drop(while: isSpace)
      if after.first == UInt8(ascii: "=") { rest = after.dropFirst().drop(while: isSpace) }
    }
    if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") { rest = rest.dropFirst().prefix { $0 != quote } }
    return rest.isEmpty ? nil : String(decoding: rest, as: UTF8.self)
  }
}

/// The elements that matter here.
private enum Element: String {
  case other = ""
  case a, area, audio, base, body, desc, embed
  case feImage = "feimage"
  case foreignObject = "foreignobject"
  case frame, iframe, image, img, input, link
  case annotation = "annotation-xml"
  case math, meta, mi, mn, mo, ms, mtext, noembed, noframes, noscript, object, picture, plaintext, script, source, style, svg, table, td
  case template, textarea, th, title, track, use, video, xmp
}

/// A start tag.
private final class Tag {
  let name: String
  let element: Element
  let attributes: [MarkupTokenizer.Attribute]
  let offset: Int

  init(_ name: String, _ attributes: [MarkupTokenizer.Attribute], offset: Int) {
    (self.name, element, self.attributes, self.offset) = (name, Element(rawValue: name) ?? .other, attributes, offset)
  }

  // Not inlined in this and the others, because they have many callers.
  @inline(never)
  subscript(_ name: String) -> String? {
    for attribute in attributes where attribute.name == name { return attribute.value }
    return nil
  }

  /// Whether an attribute has a value, in any case.
  @inline(never)
  func has(_ name: String, _ value: String) -> Bool { self[name]?.lowercased() == value }

  /// Whether a script with this tag is run, not only kept as data.
  var runs: Bool { type.isEmpty || Self.scriptTypes.contains(type) }

  var isModule: Bool { type == "module" }

  /// Whether its style sheet is CSS.
  var isStyle: Bool { type.isEmpty || type == "text/css" }

  /// Whether its style sheet is for every screen.
  var isForScreens: Bool { self["media"] == nil || has("media", "") || has("media", "all") || has("media", "screen") }

  /// Whether its content is one for plugins, which browsers no longer have.
  var isPlugin: Bool { type.hasPrefix("application/x-") }

  /// The elements whose start tags end `svg` and `math` (§13.2.6.5).
  static let leaving = words(
    """
    b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta nobr ol p pre ruby s small \
    span strong strike sub sup table tt u ul var
    """)

  /// The types of `link`, besides style sheets and manifests, that load something.
  static let linkTypes = words(
    """
    icon apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image mask-icon preload modulepreload prefetch
    """)

  private static let scriptTypes = words(
    """
    module text/javascript application/javascript application/x-javascript text/x-javascript text/ecmascript application/ecmascript text/jscript
    """)

  private static func words(_ text: String) -> Set<String> {
    Set(Array(text.utf8).split(separator: 0x20).map { String(decoding: $0, as: UTF8.self) })
  }

  /// The type without blanks; empty if it is missing.
  private var type: String {
    String(decoding: (self["type"] ?? "").lowercased().utf8.filter { !isSpace($0) }, as: UTF8.self)
  }
}

/// The candidates of `srcset` (WHATWG HTML §4.8.4.2.2).
enum SourceSet {
  static func addresses(_ text: String) -> [String] {
    var addresses: [String] = []
    var rest = Array(text.utf8)[...]
    while true {
      rest = rest.drop { isSpace($0) || $0 == UInt8(ascii: ",") }
      guard !rest.isEmpty else { return addresses }
      var address = rest.prefix { !isSpace($0) }
      rest = rest[address.endIndex...]
      let hasComma = address.last == UInt8(ascii: ",")
      while address.last == UInt8(ascii: ",") { address = address.dropLast() }
      if !address.isEmpty { addresses.append(String(decoding: address, as: UTF8.self)) }
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
