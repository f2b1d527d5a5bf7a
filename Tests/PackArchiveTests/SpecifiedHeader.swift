/// The header blocks of an entry by the rules of FORMAT.md §4.2.2 and §4.2.3, written only from that text.
enum SpecifiedHeader {
  static func bytes(_ header: TarHeader) -> [UInt8] {
    let isDirectory = header.kind == .directory
    let whole = Array(header.path.utf8) + (isDirectory ? [slash] : [])
    let target = header.linkTarget.map { Array($0.utf8) }
    var records: [UInt8] = []
    if hasHighBytes(whole) || split(whole) == nil { records += record("path", whole) }
    if let target, hasHighBytes(target) || target.count > 100 { records += record("linkpath", target) }
    if header.size >= 1 << 33 { records += record("size", Array(String(header.size).utf8)) }

    var result: [UInt8] = []
    if !records.isEmpty {
      result += block(([], Array("PaxHeader".utf8)), mode: "000644 ", size: UInt64(records.count), type: "x", link: [])
      result += records
      result += [UInt8](repeating: 0, count: (512 - records.count % 512) % 512)
    }
    let parts = split(whole) ?? ([], Array(whole.prefix(100)))
    let type = isDirectory ? "5" : target == nil ? "0" : "1"
    let mode = header.kind == .file ? "000644 " : "000755 "
    return result + block(parts, mode: mode, size: header.size, type: type, link: Array((target ?? []).prefix(100)))
  }

  private static let slash = UInt8(ascii: "/")

  private static func hasHighBytes(_ bytes: [UInt8]) -> Bool { bytes.contains { $0 > 0x7F } }

  private static func record(_ key: String, _ value: [UInt8]) -> [UInt8] {
    let rest = Array(" \(key)=".utf8) + value + [UInt8(ascii: "\n")]
    var length = rest.count
    while String(length).utf8.count + rest.count != length { length = String(length).utf8.count + rest.count }
    return Array(String(length).utf8) + rest
  }

  private static func split(_ name: [UInt8]) -> (prefix: [UInt8], name: [UInt8])? {
    guard name.count > 100 else { return ([], name) }
    guard let cut = name.indices.first(where: { $0 >= name.count - 101 && name[$0] == slash }),
      cut < name.count - 1, cut <= 155
    else { return nil }
    return (Array(name[..<cut]), Array(name[(cut + 1)...]))
  }

  private static func block(_ parts: (prefix: [UInt8], name: [UInt8]), mode: String, size: UInt64, type: String, link: [UInt8]) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: 512)
    func put(_ offset: Int, _ bytes: [UInt8]) { block.replaceSubrange(offset..<offset + bytes.count, with: bytes) }
    func put(_ offset: Int, _ text: String) { put(offset, Array(text.utf8)) }
    func octal(_ number: UInt64, _ digits: Int) -> String {
      let text = String(number, radix: 8)
      return String(repeating: "0", count: digits - text.count) + text
    }
    put(0, parts.name)
    put(100, mode)
    put(108, "000000 ")
    put(116, "000000 ")
    if size < 1 << 33 {
      put(124, octal(size, 11) + " ")
    } else if size < 1 << 36 {
      put(124, octal(size, 12))
    } else {
      put(124, [0x80, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * $0)) })
    }
    put(136, "00000000000 ")
    put(148, "        ")
    put(156, type)
    put(157, link)
    put(257, "ustar")
    put(263, "00")
    put(329, "000000 ")
    put(337, "000000 ")
    put(345, parts.prefix)
    let sum = block.reduce(0 as UInt64) { $0 + UInt64($1) }
    put(148, octal(sum, 6))
    put(154, [0, 0x20])
    return block
  }
}
