import PackBuild

/// For records of `--json` with many optional members: one value for all takes less code than a type for each.
extension RecordValue: Encodable {
  private struct MemberKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  package func encode(to encoder: any Encoder) throws {
    switch self {
    case .text(let text):
      var container = encoder.singleValueContainer()
      try container.encode(text)
    case .number(let number):
      var container = encoder.singleValueContainer()
      try container.encode(number)
    case .flag(let flag):
      var container = encoder.singleValueContainer()
      try container.encode(flag)
    case .list(let values):
      var container = encoder.unkeyedContainer()
      for value in values { try container.encode(value) }
    case .object(let members):
      var container = encoder.container(keyedBy: MemberKey.self)
      for member in members { try container.encode(member.value, forKey: MemberKey(stringValue: member.key)) }
    }
  }
}
