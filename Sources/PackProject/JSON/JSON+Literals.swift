extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  package init(stringLiteral text: String) { self = .text(text) }
  package init(integerLiteral number: Int64) { self = number < 0 ? .negative(number) : .number(UInt64(number)) }
  package init(booleanLiteral flag: Bool) { self = .flag(flag) }
  package init(arrayLiteral values: JSON...) { self = .list(values) }

  /// Makes an object with its members in this order. Members that are nil are left out.
  package init(dictionaryLiteral members: (String, JSON?)...) {
    self = .object(members.compactMap { (key, value) in value.map { Member(key: key, value: $0) } })
  }
}

extension JSON {
  /// Returns an object with its keys in ascending byte order. Members that are nil are left out.
  package static func sorted(_ members: [String: JSON?]) -> JSON {
    .object(inOrder(members.compactMap { (key, value) in value.map { Member(key: key, value: $0) } }))
  }

  static func inOrder(_ members: [Member]) -> [Member] {
    members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }

  /// Returns a number, or nil for none.
  package static func number(_ number: (some BinaryInteger)?) -> JSON? {
    number.map { $0 < 0 ? .negative(Int64($0)) : .number(UInt64($0)) }
  }

  /// Returns a text, or nil for none.
  package static func text(_ text: String?) -> JSON? { text.map { .text($0) } }

  package static func texts(_ texts: [String]) -> JSON { .list(texts.map { .text($0) }) }
}
