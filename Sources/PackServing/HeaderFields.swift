/// The header fields of a request or a response, in their order. Names are compared without regard to case (RFC 9110 §5.1).
public struct HeaderFields: Hashable, Sendable {
  /// One field.
  public struct Field: Hashable, Sendable {
    /// The name, as it was given.
    public var name: String
    /// The value, without white space around it.
    public var value: String

    /// Makes a field.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The fields in their order. A name may occur more than once.
  public var fields: [Field]

  /// Makes a list of fields.
  public init(_ fields: [Field] = []) {
    self.fields = fields
  }

  /// The value of a field: of several with one name the values in their order, joined by commas, which is what they mean (RFC 9110 §5.2).
  public subscript(name: String) -> String? {
    var joined: String?
    for field in fields where Self.isSame(field.name, name) {
      joined = joined.map { "\($0), \(field.value)" } ?? field.value
    }
    return joined
  }

  /// Adds a field behind the others.
  public mutating func append(_ name: String, _ value: String) {
    fields.append(Field(name, value))
  }

  private static func isSame(_ one: String, _ other: String) -> Bool {
    one.utf8.count == other.utf8.count && one.utf8.elementsEqual(other.utf8) { lowered($0) == lowered($1) }
  }
}

extension HeaderFields: ExpressibleByDictionaryLiteral {
  /// Makes a list of fields in the order of the literal, in which a name may occur more than once.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init(elements.map { Field($0.0, $0.1) })
  }
}

/// The small letter of an ASCII letter, and every other byte as it is.
func lowered(_ byte: UInt8) -> UInt8 {
  (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
}
