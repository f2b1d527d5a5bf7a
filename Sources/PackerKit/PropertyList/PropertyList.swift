/// A value of a property list. Numbers keep their types, and dictionaries their order.
///
/// Foundation's own reader hands out dictionaries without order and numbers that may be booleans, and writes all of a file anew; a plist
/// that people keep under version control must come back with nothing changed but what was asked for.
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
  case dictionary([Member])
  /// A reference within a keyed archive, which only binary plists hold.
  case uid(UInt64)

  /// One key of a dictionary, and its value.
  package struct Member: Hashable, Sendable {
    package var key: String
    package var value: PropertyList

    package init(_ key: String, _ value: PropertyList) {
      self.key = key
      self.value = value
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

  /// Whether two lists say the same: the order of dictionaries does not matter, every byte of a text does.
  package func says(_ other: PropertyList) -> Bool {
    sorted.binary == other.sorted.binary
  }

  /// The same with every dictionary in ascending order of its keys.
  private var sorted: PropertyList {
    switch self {
    case .array(let items):
      .array(items.map(\.sorted))
    case .dictionary(let members):
      .dictionary(members.map { Member($0.key, $0.value.sorted) }.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
    default:
      self
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
    case .uid: "a reference"
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
