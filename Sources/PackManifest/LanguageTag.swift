/// A language tag (BCP 47) for comparisons: lower case, without extensions, and with the script of Chinese (FORMAT.md §9.8).
package struct LanguageTag: Equatable {
  private let language: Subtag
  private var script: Subtag
  private var region: Subtag
  private var variants: [Subtag] = []

  /// Returns nil if a part of the text is not 1 to 8 letters and digits, or if it begins with no language.
  init?(_ text: String) {
    var rest = text.utf8[...]
    guard let first = Subtag(from: &rest), first.length > 1 else { return nil }
    language = Self.language(first)
    script = .none
    region = .none
    while !rest.isEmpty {
      rest.removeFirst()
      guard let next = Subtag(from: &rest) else { return nil }
      // An extension or private use follows.
      if next.length == 1 { break }
      let isFirst = region == .none && variants.isEmpty
      if isFirst, script == .none, next.length == 4, !next.beginsWithDigit {
        script = next
      } else if isFirst, next.length == 2 || next.length == 3 && next.beginsWithDigit {
        region = next
      } else {
        variants.append(next)
      }
    }
    if language == "zh", script == .none { script = ["tw", "hk", "mo"].contains(region) ? "hant" : "hans" }
  }

  /// Returns the tag that a device takes: the one that is closest to the first of the user's languages to which any is close. Nil if there is none.
  ///
  /// - Parameters:
  ///   - tags: The tags to choose from. Of several that are equally close, the first one is returned.
  ///   - languages: The user's languages, the preferred one first.
  package static func closest(of tags: [String], to languages: [String]) -> String? {
    let candidates = tags.map(LanguageTag.init)
    for language in languages {
      if tags.contains(language) { return language }
      guard let steps = LanguageTag(language)?.steps else { continue }
      var best: (distance: Int, number: Int)?
      for (number, candidate) in candidates.enumerated() {
        guard let distance = candidate?.distance(from: steps) else { continue }
        if best.map({ distance < $0.distance }) ?? true { best = (distance, number) }
      }
      if let best { return tags[best.number] }
    }
    return nil
  }

  /// The tag, and those that come closest to it: without its variants, one by one; with a region whose texts others share; without its region; and without its
  /// script.
  private var steps: [LanguageTag] {
    var tag = self
    var steps = [self]
    func step(_ change: (inout LanguageTag) -> Void) {
      change(&tag)
      if tag != steps.last { steps.append(tag) }
    }
    while !tag.variants.isEmpty { step { $0.variants.removeLast() } }
    if region != .none {
      for shared in Self.sharedRegions(of: language, region) { step { $0.region = shared } }
      step { $0.region = .none }
    }
    if language != "zh" { step { $0.script = .none } }
    return steps
  }

  /// Returns how far the tag is from one of the user's with these steps. Nil if it is another language, or the same in another script.
  private func distance(from steps: [LanguageTag]) -> Int? {
    let wanted = steps[0]
    guard language == wanted.language, script == wanted.script || script == .none || wanted.script == .none else { return nil }
    return steps.firstIndex(of: self) ?? steps.count + (isUsual ? 0 : 1)
  }

  /// Whether the region is the one that is meant if a tag has none.
  private var isUsual: Bool {
    switch language {
    case "en": region == "us"
    case "pt": region == "br"
    case "zh": region == (script == "hant" ? "tw" : "cn")
    default: region == language
    }
  }

  /// Returns the code that systems use now.
  private static func language(_ code: Subtag) -> Subtag {
    switch code {
    case "no": "nb"
    case "iw": "he"
    case "in": "id"
    default: code
    }
  }

  /// Returns the regions whose texts fit a region better than those without one, the best first (CLDR's parent locales, as Apple's systems extend them).
  private static func sharedRegions(of language: Subtag, _ region: Subtag) -> [Subtag] {
    switch language {
    case "en" where !["us", "as", "gu", "mh", "mp", "ph", "pr", "um", "vi"].contains(region): ["gb", "001"]
    case "es" where !["es", "ea", "gq", "ic", "ph"].contains(region): ["419", "mx"]
    case "pt" where region != "br": ["pt"]
    default: []
    }
  }
}

/// A part of a tag: up to 8 letters and digits in lower case.
private struct Subtag: Hashable, ExpressibleByStringLiteral {
  private var bytes: UInt64 = 0
  private(set) var length = 0

  /// The part that a tag does not have.
  static let none: Subtag = ""

  init(stringLiteral text: String) {
    for byte in text.utf8 { append(byte) }
  }

  /// Takes the bytes before the next separator. Returns nil if there are none, or others than letters and digits.
  init?(from rest: inout Substring.UTF8View) {
    while let byte = rest.first, byte != UInt8(ascii: "-"), byte != UInt8(ascii: "_") {
      rest.removeFirst()
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): append(byte | 0x20)
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): append(byte)
      default: return nil
      }
    }
    guard (1...8).contains(length) else { return nil }
  }

  private mutating func append(_ byte: UInt8) {
    bytes = bytes << 8 | UInt64(byte)
    length += 1
  }

  var beginsWithDigit: Bool { length > 0 && length <= 8 && bytes >> (8 * UInt64(length - 1)) < UInt64(UInt8(ascii: "a")) }
}
