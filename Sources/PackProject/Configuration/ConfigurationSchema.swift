extension PackerConfiguration {
  /// The JSON Schema (2020-12) of the configuration, for editors and other tools. It checks neither that directories exist nor that entries agree
  /// with each other; ``read(_:)`` does.
  package static var jsonSchema: String {
    let head: JSON = [
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "title": "packer.yml",
      "description": "The configuration of packer, which turns directories into encrypted packs.",
    ]
    return head.adding(ConfigurationMap.root.schema).columns
  }
}

extension ConfigurationMap {
  fileprivate var schema: JSON {
    let required = keys.filter(\.isRequired).map(\.name)
    return [
      "type": "object", "properties": .object(keys.map { JSON.Member(key: $0.name, value: $0.schema) }),
      "required": required.isEmpty ? nil : .texts(required),
      "oneOf": alternatives.isEmpty ? nil : .list(alternatives.map { ["required": [.text($0)]] }),
      "additionalProperties": false,
    ]
  }
}

extension ConfigurationKey {
  fileprivate var schema: JSON {
    let fields: JSON = ["description": .text(summary), "default": standard, "examples": example.map { [$0] }]
    return fields.adding(shape.schema)
  }
}

extension ConfigurationShape {
  fileprivate var schema: JSON {
    switch self {
    case .scalar(let format):
      return format.schema
    case .list(let format, let counts, let isSet):
      return [
        "type": "array", "items": format.schema, "minItems": counts.lowerBound > 0 ? .number(counts.lowerBound) : nil,
        "maxItems": .number(counts.upperBound), "uniqueItems": isSet ? true : nil,
      ]
    case .maps(let map, let smallestCount):
      return ["type": "array", "items": map.schema, "minItems": smallestCount > 0 ? .number(smallestCount) : nil]
    case .map(let map):
      return map.schema
    case .either(let left, let right):
      return ["anyOf": [left.schema, right.schema]]
    }
  }
}

extension JSON {
  /// Returns the members of this object followed by those of another.
  fileprivate func adding(_ other: JSON) -> JSON {
    guard case .object(let members) = self, case .object(let others) = other else { return self }
    return .object(members + others)
  }
}
