/// Writes the JSON of manifests in its canonical form (FORMAT.md §9.1). The caller must write keys in ascending order.
package struct CanonicalWriter: Sendable {
  package private(set) var bytes: [UInt8] = []
  /// Whether the next key or element needs a comma before it.
  private var needsComma = false

  package init() {}

  package mutating func object(_ body: (inout CanonicalWriter) -> Void) {
    enclosed(UInt8(ascii: "{"), UInt8(ascii: "}"), body)
  }

  package mutating func array<Element>(_ elements: [Element], _ body: (inout CanonicalWriter, Element) -> Void) {
    enclosed(UInt8(ascii: "["), UInt8(ascii: "]")) { writer in
      for element in elements {
        body(&writer, element)
      }
    }
  }

  package mutating func array<Element>(_ name: String, _ elements: [Element], _ body: (inout CanonicalWriter, Element) -> Void) {
    key(name)
    array(elements, body)
  }

  /// Writes a key with its value, or nothing if there is no value.
  package mutating func integer(_ name: String, _ value: UInt64?) {
    guard let value else { return }
    key(name)
    integer(value)
  }

  /// Writes a key with its value, or nothing if there is no value.
  package mutating func string(_ name: String, _ text: String?) {
    guard let text else { return }
    key(name)
    string(text)
  }

  /// Writes a key, whose value must follow.
  package mutating func key(_ name: String) {
    string(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  package mutating func integer(_ value: UInt64) {
    separate()
    bytes += String(value).utf8
  }

  package mutating func string(_ text: String) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 { append(escaping: byte) }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Appends bytes that are already JSON.
  package mutating func raw(_ json: [UInt8]) {
    separate()
    bytes += json
  }

  private mutating func enclosed(_ opening: UInt8, _ closing: UInt8, _ body: (inout CanonicalWriter) -> Void) {
    separate()
    bytes.append(opening)
    needsComma = false
    body(&self)
    bytes.append(closing)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  private mutating func append(escaping byte: UInt8) {
    switch byte {
    case 0x22: bytes += [UInt8(ascii: "\\"), 0x22]
    case 0x5C: bytes += [UInt8(ascii: "\\"), 0x5C]
    case 0x08: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "b")]
    case 0x09: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "t")]
    case 0x0A: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
    case 0x0C: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "f")]
    case 0x0D: bytes += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
    case 0..<0x20: bytes += Array("\\u00".utf8) + Array([byte].hex.utf8)
    default: bytes.append(byte)
    }
  }
}
