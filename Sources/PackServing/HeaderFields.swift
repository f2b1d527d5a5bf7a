/// The header fields of a request or a response, in order. Names are compared case-insensitively (RFC 9110 §5.1).
public struct HeaderFields: Hashable, Sendable {
  /// One field.
  public struct Field: Hashable, Sendable {
    /// The name, as given.
    public var name: String
    /// The value, without white space around it.
    public var value: String

    /// Creates a field.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The fields in order. A name may occur more than once.
  public var fields: [Field]

  /// Creates a list of fields.
  public init(_ fields: [Field] = []) {
    self.fields = fields
  }

  /// The value of a field. If several fields have the name, the value is their values in order, joined by commas (RFC 9110 §5.2).
  public subscript(name: String) -> String? {
    var joined: String?
    for field in fields where Self.isSame(field.name, name) {
      joined = joined.map { "\($0), \(field.value)" } ?? field.value
    }
    return joined
  }

  /// Appends a field.
  public mutating func append(_ name: String, _ value: String) {
    fields.append(Field(name, value))
  }

  private static func isSame(_ one: String, _ other: String) -> Bool {
    one.utf8.count == other.utf8.count && one.utf8.elementsEqual(other.utf8) { lowered($0) == lowered($1) }
  }
}

extension HeaderFields: ExpressibleByDictionaryLiteral {
  /// Creates a list of fields in the order of the literal. A name may occur more than once.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { Field($0.0, $0.1) })
  }
}

/// Returns the lower-case form of an ASCII letter, and any other byte unchanged.
func lowered(_ byte: UInt8) -> UInt8 {
  (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
}
