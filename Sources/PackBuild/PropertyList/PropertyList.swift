/// A value of a property list. Numbers keep their types.
package indirect enum PropertyList: Hashable, Sendable {
  case string(String)
  case boolean(Bool)
  case integer(Int64)
  /// An integer above the signed ones. Others are ``integer(_:)``.
  case unsigned(UInt64)
  /// As the pattern of its bits, so that every value equals itself.
  case real(bitPattern: UInt64)
  /// Seconds since 2001-01-01T00:00:00Z, as the pattern of the bits of a double.
  case date(bitPattern: UInt64)
  case data([UInt8])
  case array([PropertyList])
  /// In ascending order of the keys, as Foundation keeps none of its own.
  case dictionary([Member])

  /// How a list is written.
  package enum Form: Hashable, Sendable {
    case xml
    case binary

    /// The form that the start of a file shows.
    package init(of bytes: [UInt8]) {
      self = bytes.starts(with: "bplist".utf8) ? .binary : .xml
    }
  }

  /// One key of a dictionary, and its value.
  package struct Member: Hashable, Comparable, Sendable {
    package var key: String
    package var value: PropertyList

    package init(_ key: String, _ value: PropertyList) {
      self.key = key
      self.value = value
    }

    /// By the bytes of the keys.
    package static func < (left: Member, right: Member) -> Bool {
      left.key.utf8.lexicographicallyPrecedes(right.key.utf8)
    }
  }

  /// An integer as it is written: of two cases the one that is meant.
  package static func number(_ value: UInt64) -> PropertyList {
    Int64(exactly: value).map(PropertyList.integer) ?? .unsigned(value)
  }

  /// The members, where this is a dictionary.
  package var members: [Member]? {
    guard case .dictionary(let members) = self else { return nil }
    return members
  }

  /// The texts, where this is an array of strings alone.
  var texts: [String]? {
    guard case .array(let items) = self else { return nil }
    let texts = items.compactMap { item -> String? in
      guard case .string(let text) = item else { return nil }
      return text
    }
    return texts.count == items.count ? texts : nil
  }

  /// The value of a key, where this is a dictionary that has it.
  package subscript(key key: String) -> PropertyList? {
    members?.first { $0.key == key }?.value
  }

  /// Whether two lists say the same: every byte of a text matters, the order of keys and the sign of a zero do not.
  package func says(_ other: PropertyList) -> Bool {
    switch (self, other) {
    case (.string(let mine), .string(let others)):
      return mine.utf8.elementsEqual(others.utf8)
    case (.real(let mine), .real(let others)):
      let (mine, others) = (Double(bitPattern: mine), Double(bitPattern: others))
      return mine == others || mine.isNaN && others.isNaN
    case (.array(let mine), .array(let others)):
      return mine.count == others.count && zip(mine, others).allSatisfy { $0.says($1) }
    case (.dictionary(let mine), .dictionary(let others)):
      return mine.count == others.count
        && zip(mine.sorted(), others.sorted()).allSatisfy { $0.key.utf8.elementsEqual($1.key.utf8) && $0.value.says($1.value) }
    default:
      return self == other
    }
  }

  /// Whether a text or a key holds a character that XML cannot.
  var hasControlCharacters: Bool {
    func isOne(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D }
    return switch self {
    case .string(let text): text.utf8.contains(where: isOne)
    case .array(let items): items.contains { $0.hasControlCharacters }
    case .dictionary(let members): members.contains { $0.key.utf8.contains(where: isOne) || $0.value.hasControlCharacters }
    default: false
    }
  }

  /// The most values, one inside the other, that are read.
  package static let greatestDepth = 64
  /// The largest file that is read, in bytes. An Info.plist has a few thousand.
  package static let largestSize = 4 << 20
}

extension PropertyList: CustomStringConvertible {
  /// The kind and the value, for messages.
  package var description: String {
    switch self {
    case .string(let text): "the string '\(text)'"
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .real(let bits): "the real \(Double(bitPattern: bits))"
    case .date: "a date"
    case .data(let bytes): "data of \(bytes.count) bytes"
    case .array(let items): "[\(items.map { $0.element }.joined(separator: ", "))]"
    case .dictionary(let members): "a dictionary of \(members.count) keys"
    }
  }

  /// Two values for a person, with their kinds only where these differ.
  static func apart(_ old: PropertyList?, _ new: PropertyList?) -> (old: String?, new: String?) {
    if case .string? = old, let new, case .string = new { return (old?.element, new.element) }
    if old == nil || new == nil { return (old?.element, new?.element) }
    return (old?.description, new?.description)
  }

  private var element: String {
    if case .string(let text) = self { text } else { description }
  }
}
