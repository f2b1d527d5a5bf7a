/// A value of a property list. Numbers keep their types.
package indirect enum PropertyList: Hashable, Sendable {
  case string(String)
  case boolean(Bool)
  case integer(Int64)
  /// An integer greater than `Int64.max`. All other integers are ``integer(_:)``.
  case unsigned(UInt64)
  /// A real number as its bit pattern, so that every value equals itself.
  case real(bitPattern: UInt64)
  /// A date in seconds since 2001-01-01T00:00:00Z, as the bit pattern of a double.
  case date(bitPattern: UInt64)
  case data([UInt8])
  case array([PropertyList])
  /// The members in ascending order of their keys, because Foundation does not keep an order.
  case dictionary([Member])

  /// The encoding of a property list.
  package enum Form: Hashable, Sendable {
    case xml
    case binary

    /// Detects the form from the start of a file.
    package init(of bytes: [UInt8]) {
      self = bytes.starts(with: "bplist".utf8) ? .binary : .xml
    }
  }

  /// A key of a dictionary and its value.
  package struct Member: Hashable, Comparable, Sendable {
    package var key: String
    package var value: PropertyList

    package init(_ key: String, _ value: PropertyList) {
      self.key = key
      self.value = value
    }

    /// Compares the bytes of the keys.
    package static func < (left: Member, right: Member) -> Bool {
      left.key.utf8.lexicographicallyPrecedes(right.key.utf8)
    }
  }

  /// Returns an integer as ``integer(_:)`` if it fits, otherwise as ``unsigned(_:)``.
  package static func number(_ value: UInt64) -> PropertyList {
    Int64(exactly: value).map(PropertyList.integer) ?? .unsigned(value)
  }

  /// The members if this is a dictionary, otherwise nil.
  package var members: [Member]? {
    guard case .dictionary(let members) = self else { return nil }
    return members
  }

  /// The texts if this is an array of only strings, otherwise nil.
  var texts: [String]? {
    guard case .array(let items) = self else { return nil }
    let texts = items.compactMap { item -> String? in
      guard case .string(let text) = item else { return nil }
      return text
    }
    return texts.count == items.count ? texts : nil
  }

  /// The value of a key, or nil if this is not a dictionary that has the key.
  package subscript(key key: String) -> PropertyList? {
    members?.first { $0.key == key }?.value
  }

  /// Whether two lists have the same content. Every byte of a text counts; the order of keys and the sign of a zero do not.
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

  /// Whether a text or a key has a character that XML cannot contain.
  var hasControlCharacters: Bool {
    func isOne(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D }
    return switch self {
    case .string(let text): text.utf8.contains(where: isOne)
    case .array(let items): items.contains { $0.hasControlCharacters }
    case .dictionary(let members): members.contains { $0.key.utf8.contains(where: isOne) || $0.value.hasControlCharacters }
    default: false
    }
  }

  /// The greatest nesting depth of values that is read.
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
    case .data(let bytes): "data of \(bytes.count) \(bytes.count == 1 ? "byte" : "bytes")"
    case .array(let items): "[\(items.map { $0.element }.joined(separator: ", "))]"
    case .dictionary(let members): "a dictionary of \(members.count) \(members.count == 1 ? "key" : "keys")"
    }
  }

  /// Returns two values for people, with their kinds only if the kinds differ.
  static func apart(_ old: PropertyList?, _ new: PropertyList?) -> (old: String?, new: String?) {
    if case .string? = old, let new, case .string = new { return (old?.element, new.element) }
    if old == nil || new == nil { return (old?.element, new?.element) }
    return (old?.description, new?.description)
  }

  private var element: String {
    if case .string(let text) = self { text } else { description }
  }
}
