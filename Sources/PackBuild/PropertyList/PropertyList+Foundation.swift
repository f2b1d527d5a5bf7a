import Foundation
package import PackFormat
import PackProject

// The only place where Foundation's property lists are known. It reads with `PropertyListSerialization`, which tells an integer from a real and
// a boolean; `PropertyListDecoder` takes 1.0 for an integer. It writes with `PropertyListEncoder`; `PropertyListSerialization` puts the keys
// of a binary list into another order in every process.
extension PropertyList {
  /// Reads a property list, in XML or binary form.
  ///
  /// - Parameter path: for messages.
  /// - Throws: ``PackError/Code/malformedPlist``.
  package init(parsing bytes: [UInt8], path: String) throws(PackError) {
    let form = Form(of: bytes)
    guard bytes.count <= Self.largestSize else {
      throw PackError(.malformedPlist, "\(path) has \(bytes.count) bytes, and \(Self.largestSize) are the most of a property list")
    }
    let keys: Int
    switch form {
    case .xml:
      try Self.checkText(bytes, path: path)
      keys = XMLMarkup(bytes).keys
    case .binary:
      guard let outline = BinaryOutline(bytes) else { throw Self.damagedBinary(path) }
      keys = outline.keys
    }
    self = try Self.value(try Self.object(bytes, form: form, path: path), path: path, depth: 1)
    // A dictionary of Foundation's has one value for a key, whatever the file says.
    guard keys == keyCount else {
      throw PackError(
        .malformedPlist, "\(path) has \(keys) keys, and \(keyCount) of them are left when it is read: a dictionary has the same key twice")
    }
  }

  private static func object(_ bytes: [UInt8], form: Form, path: String) throws(PackError) -> Any {
    var actual = PropertyListSerialization.PropertyListFormat.openStep
    let object: Any
    do {
      object = try unsafe PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: &actual)
    } catch {
      guard form == .xml else { throw damagedBinary(path) }
      let reason = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
      throw PackError(.malformedPlist, "\(path) is no property list: \(reason ?? error.localizedDescription)")
    }
    // Bytes that are neither form are read as a text of the oldest one.
    switch (form, actual) {
    case (.xml, .xml), (.binary, .binary): return object
    case (.binary, _): throw damagedBinary(path)
    case (.xml, _): throw PackError(.malformedPlist, "\(path) is no property list in XML")
    }
  }

  private static func damagedBinary(_ path: String) -> PackError {
    PackError(.malformedPlist, "\(path) is a damaged binary property list, or holds what no Info.plist does")
  }

  /// Whether the bytes may be XML in an encoding that can be looked through for comments.
  private static func checkText(_ bytes: [UInt8], path: String) throws(PackError) {
    let convert = "plutil -convert xml1 \(ShellWord.path(path))"
    guard !bytes.contains(0) else {
      throw PackError(.malformedPlist, "\(path) is in UTF-16 or holds bytes of zero, and only UTF-8 is read", hint: convert)
    }
    let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    guard text.first(where: { $0 > 0x20 }) == UInt8(ascii: "<") else {
      throw PackError(.malformedPlist, "\(path) is neither an XML nor a binary property list", hint: convert)
    }
  }

  /// The years 1583 to 9999, in seconds from the start of 2001: before, one calendar is written and another one read.
  private static let writtenDates = -13_190_860_800.0..<252_423_993_600.0

  private static func value(_ object: Any, path: String, depth: Int) throws(PackError) -> PropertyList {
    guard depth <= greatestDepth else {
      throw PackError(.malformedPlist, "\(path): values are deeper inside each other than \(greatestDepth)")
    }
    switch object {
    case let text as String:
      return .string(text)
    case let date as Date:
      // Others do not come back from the XML form as they were.
      guard writtenDates.contains(date.timeIntervalSinceReferenceDate) else {
        throw PackError(.malformedPlist, "\(path) holds a date that is not in the years 1583 to 9999")
      }
      return .date(bitPattern: date.timeIntervalSinceReferenceDate.bitPattern)
    case let data as Data:
      return .data(Array(data))
    case let items as [Any]:
      var values: [PropertyList] = []
      values.reserveCapacity(items.count)
      for item in items { values.append(try value(item, path: path, depth: depth + 1)) }
      return .array(values)
    case let items as [String: Any]:
      var members: [Member] = []
      members.reserveCapacity(items.count)
      for (key, item) in items { members.append(Member(key, try value(item, path: path, depth: depth + 1))) }
      return .dictionary(members.sorted())
    case let number as NSNumber:
      if let value = value(number) { return value }
      throw PackError(.malformedPlist, "\(path) holds the integer \(number), which does not fit 64 bits")
    default:
      throw PackError(.malformedPlist, "\(path) holds a value of a type that no Info.plist has, such as a reference of an archive")
    }
  }

  /// The C type of a number is what tells the types of a property list apart: a cast takes 1 for a boolean, and 1.0 for an integer.
  private static func value(_ number: NSNumber) -> PropertyList? {
    switch UnicodeScalar(UInt8(bitPattern: unsafe number.objCType.pointee)) {
    case "c", "B":
      .boolean(number.boolValue)
    case "d", "f":
      .real(bitPattern: number.doubleValue.bitPattern)
    default:
      Int64(number.stringValue).map(PropertyList.integer) ?? UInt64(number.stringValue).map(PropertyList.unsigned)
    }
  }

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
