/// A JSON value that keeps the order of its keys.
package indirect enum SchemaValue: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  case text(String)
  case integer(Int)
  case flag(Bool)
  case list([SchemaValue])
  case object([(key: String, value: SchemaValue)])

  package init(stringLiteral text: String) { self = .text(text) }
  package init(integerLiteral number: Int) { self = .integer(number) }
  package init(booleanLiteral flag: Bool) { self = .flag(flag) }
  package init(arrayLiteral items: SchemaValue...) { self = .list(items) }
  package init(dictionaryLiteral fields: (String, SchemaValue)...) { self = .object(fields.map { (key: $0.0, value: $0.1) }) }

  /// Returns the fields of this object followed by those of another.
  func adding(_ other: SchemaValue) -> SchemaValue {
    guard case .object(let fields) = self, case .object(let others) = other else { return self }
    return .object(fields + others)
  }

  /// Returns the value as indented text. A value that fits into 100 columns is on one line.
  func text(indent: Int = 0) -> String {
    let line = oneLine
    if line.count + indent <= 100 { return line }
    let inner = String(repeating: " ", count: indent + 2)
    let end = "\n" + String(repeating: " ", count: indent)
    switch self {
    case .list(let items):
      return "[\n" + items.map { inner + $0.text(indent: indent + 2) }.joined(separator: ",\n") + end + "]"
    case .object(let fields):
      return "{\n"
        + fields.map { "\(inner)\(JSONString.quoted($0.key)): \($0.value.text(indent: indent + 2))" }.joined(separator: ",\n") + end + "}"
    case .text, .integer, .flag:
      return line
    }
  }

  private var oneLine: String {
    switch self {
    case .text(let text): JSONString.quoted(text)
    case .integer(let number): "\(number)"
    case .flag(let flag): "\(flag)"
    case .list(let items): "[" + items.map(\.oneLine).joined(separator: ", ") + "]"
    case .object(let fields):
      fields.isEmpty ? "{}" : "{" + fields.map { "\(JSONString.quoted($0.key)): \($0.value.oneLine)" }.joined(separator: ", ") + "}"
    }
  }
}

extension PackerConfiguration {
  /// The JSON Schema (2020-12) of the configuration, for editors and other tools. It checks neither that directories exist nor that entries agree
  /// with each other; ``read(_:)`` does.
  package static var jsonSchema: String {
    let head: SchemaValue = [
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "packer.yml",
      "description": "The configuration of packer, which turns directories into encrypted packs.",
    ]
    return head.adding(ConfigurationMap.root.schema).text()
  }
}

extension ConfigurationMap {
  fileprivate var schema: SchemaValue {
    var fields: [(key: String, value: SchemaValue)] = [
      ("type", "object"), ("properties", .object(keys.map { (key: $0.name, value: $0.schema) })),
    ]
    let required = keys.filter(\.isRequired).map { SchemaValue.text($0.name) }
    if !required.isEmpty { fields.append(("required", .list(required))) }
    if !alternatives.isEmpty {
      fields.append(("oneOf", .list(alternatives.map { ["required": [.text($0)]] })))
    }
    fields.append(("additionalProperties", false))
    return .object(fields)
  }
}

extension ConfigurationKey {
  fileprivate var schema: SchemaValue {
    var fields: [(key: String, value: SchemaValue)] = [("description", .text(summary))]
    if let standard { fields.append(("default", standard)) }
    if let example { fields.append(("examples", [example])) }
    return SchemaValue.object(fields).adding(shape.schema)
  }
}

extension ConfigurationShape {
  fileprivate var schema: SchemaValue {
    switch self {
    case .scalar(let format):
      return format.schema
    case .list(let format, let counts, let isSet):
      var fields: SchemaValue = ["type": "array", "items": format.schema]
      if counts.lowerBound > 0 { fields = fields.adding(["minItems": .integer(counts.lowerBound)]) }
      fields = fields.adding(["maxItems": .integer(counts.upperBound)])
      return isSet ? fields.adding(["uniqueItems": true]) : fields
    case .maps(let map, let smallestCount):
      let fields: SchemaValue = ["type": "array", "items": map.schema]
      return smallestCount > 0 ? fields.adding(["minItems": .integer(smallestCount)]) : fields
    case .map(let map):
      return map.schema
    case .either(let left, let right):
      return ["anyOf": [left.schema, right.schema]]
    }
  }
}
