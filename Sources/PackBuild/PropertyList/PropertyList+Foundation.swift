#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The only file that uses Foundation's property lists: `PropertyListEncoder` writes them. `PropertyListDecoder` is not used for reading: it reads
// 1.0 as an integer, the text "$null" as nothing and only the last of two equal keys, and it reports no positions.
extension PropertyList {
  /// Returns a dictionary or an array as a complete property list. The same values give the same bytes, with the keys of every dictionary in order.
  ///
  /// If texts differ only in how letters are composed, the binary form keeps the first one for all of them. ``says(_:)`` detects that.
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

/// A value in a form that Foundation's encoders accept.
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
