import PackArchive
import PackFormat

/// Knows the header of an entry that needs one block and no prefix (FORMAT.md §4.2.2), without libarchive: most headers of most packs.
struct PlainHeader {
  private var block: [UInt8]
  /// The sum of the bytes that are the same in every block, the checksum taken as spaces.
  private let fixedSum: Int

  init() {
    var block = [UInt8](repeating: 0, count: 512)
    func put(_ text: StaticString, at offset: Int) {
      text.withUTF8Buffer { bytes in
        for index in 0..<bytes.count { block[offset + index] = unsafe bytes[index] }
      }
    }
    put("000644 ", at: 100)
    put("000000 ", at: 108)
    put("000000 ", at: 116)
    put("00000000000 ", at: 124)
    put("00000000000 ", at: 136)
    put("0", at: 156)
    put("ustar", at: 257)
    put("00", at: 263)
    put("000000 ", at: 329)
    put("000000 ", at: 337)
    self.block = block
    fixedSum = block.reduce(8 * 0x20) { $0 + Int($1) }
  }

  /// Whether `bytes` are the header of an entry, and that is a plain one.
  mutating func matches(_ bytes: Span<UInt8>, _ header: TarHeader) -> Bool {
    let path = Array(header.path.utf8)
    let target = header.linkTarget.map { Array($0.utf8) } ?? []
    return matches(bytes, path: path.span, header.kind, size: header.size, linkTarget: target.span)
  }

  /// Whether `bytes` are the header of an entry, and that is a plain one.
  ///
  /// - Parameter linkTarget: empty where the entry is no link.
  mutating func matches(
    _ bytes: Span<UInt8>, path: Span<UInt8>, _ kind: IndexRecord.Kind, size: UInt64, linkTarget: Span<UInt8>
  ) -> Bool {
    let isDirectory = kind == .directory
    guard bytes.count == block.count, path.count + (isDirectory ? 1 : 0) <= 100, linkTarget.count <= 100, size < 1 << 33 else {
      return false
    }
    var sum = fixedSum
    var isASCII = true
    func put(_ byte: UInt8, at offset: Int, for fixed: UInt8) {
      sum += Int(byte) - Int(fixed)
      block[offset] = byte
    }
    for index in 0..<100 {
      let byte = index < path.count ? path[index] : isDirectory && index == path.count ? UInt8(ascii: "/") : 0
      if byte > 0x7F { isASCII = false }
      put(byte, at: index, for: 0)
    }
    for index in 0..<100 {
      let byte = index < linkTarget.count ? linkTarget[index] : 0
      if byte > 0x7F { isASCII = false }
      put(byte, at: 157 + index, for: 0)
    }
    guard isASCII else { return false }
    let mode: StaticString = kind == .file ? "644" : "755"
    mode.withUTF8Buffer { mode in
      put(unsafe mode[0], at: 103, for: UInt8(ascii: "6"))
      put(unsafe mode[1], at: 104, for: UInt8(ascii: "4"))
      put(unsafe mode[2], at: 105, for: UInt8(ascii: "4"))
    }
    put(UInt8(ascii: isDirectory ? "5" : linkTarget.isEmpty ? "0" : "1"), at: 156, for: UInt8(ascii: "0"))
    var rest = size
    for index in (124..<135).reversed() {
      put(UInt8(ascii: "0") + UInt8(rest & 7), at: index, for: UInt8(ascii: "0"))
      rest >>= 3
    }
    for index in (148..<154).reversed() {
      block[index] = UInt8(ascii: "0") + UInt8(sum & 7)
      sum >>= 3
    }
    block[154] = 0
    block[155] = UInt8(ascii: " ")
    return equal(block.span, bytes)
  }
}
