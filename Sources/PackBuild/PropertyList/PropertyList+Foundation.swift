package import PackFormat
import PackProject

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The only place where Foundation's property lists are known: `PropertyListEncoder` writes them. `PropertyListDecoder` does not read them: it takes
// 1.0 for an integer, the text "$null" for nothing and the last of two equal keys for the only one, and knows no places.
extension PropertyList {
  /// A dictionary or an array as a whole property list: the same bytes for the same values, with the keys of every dictionary in order.
  ///
  /// Of texts that differ in nothing but how letters are composed, the binary form keeps the first; ``says(_:)`` tells.
  package func bytes(as form: Form) throws(PackError) -> [UInt8] {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = form == .binary ? .binary : .xml
    do {
      return Array(try encoder.encode(Encoded(value: self)))
    } catch {
      throw PackError(.internalError, "a property list cannot be written: \(error)")
    }
  }
}

/// A value, as an encoder of Foundation's takes it.
private struct Encoded: Encodable {
  let value: PropertyList

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  func encode(to encoder: any Encoder) throws {
    switch value {
    case .array(let items):
      var container = encoder.unkeyedContainer()
      for item in items { try container.encode(Encoded(value: item)) }
    case .dictionary(let members):
      var container = encoder.container(keyedBy: Key.self)
      for member in members.sorted() { try container.encode(Encoded(value: member.value), forKey: Key(stringValue: member.key)) }
    default:
      var container = encoder.singleValueContainer()
      try encode(into: &container)
    }
  }

  private func encode(into container: inout any SingleValueEncodingContainer) throws {
    switch value {
    case .string(let text): try container.encode(text)
    case .boolean(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .unsigned(let value): try container.encode(value)
    case .real(let bits): try container.encode(Double(bitPattern: bits))
    case .date(let bits): try container.encode(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
    case .data(let bytes): try container.encode(Data(bytes))
    case .array, .dictionary: break
    }
  }
}
