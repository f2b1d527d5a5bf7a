package import PackFormat

/// Makes the header of an entry that needs one block and no pax header (FORMAT.md §4.2.2), without libarchive: that of nearly every entry.
///
/// The tests hold the blocks against libarchive's own, and against the format.
package struct PlainHeader {
  private var block: [UInt8]
  /// The sum of the bytes that are the same in every block, the checksum taken as spaces.
  private let fixedSum: Int
  /// How far the fields reach that the last entry filled.
  private var nameEnd = Field.name
  private var linkEnd = Field.linkName
  private var prefixEnd = Field.prefix

  /// Offsets of the fields that differ, and the digits of the mode that do.
  private enum Field {
    static let name = 0
    static let mode = 103
    static let size = 124
    static let checksum = 148
    static let type = 156
    static let linkName = 157
    static let prefix = 345
  }

  private static let slash = UInt8(ascii: "/")

  package init() {
    var block = [UInt8](repeating: 0, count: TarWriter.blockSize)
    func put(_ text: String, at offset: Int) {
      for (index, byte) in text.utf8.enumerated() { block[offset + index] = byte }
    }
    put("000", at: 100)
    for offset in [106, 114, 122, 135, 147, 155, 335, 343] { block[offset] = UInt8(ascii: " ") }
    for offset in [108, 116, 329, 337] { put("000000", at: offset) }
    put("00000000000", at: 136)
    put("ustar", at: 257)
    put("00", at: 263)
    self.block = block
    fixedSum = block.reduce(7 * 0x20) { $0 + Int($1) }
  }

  /// Whether `bytes` are the header of an entry, and that is a plain one.
  package mutating func matches(_ bytes: Span<UInt8>, _ header: TarHeader) -> Bool {
    make(header) && equal(block.span, bytes)
  }

  /// Whether `bytes` are the header of an entry, and that is a plain one.
  ///
  /// - Parameter linkTarget: empty where the entry is no link.
  package mutating func matches(
    _ bytes: Span<UInt8>, path: Span<UInt8>, _ kind: IndexRecord.Kind, size: UInt64, linkTarget: Span<UInt8>
  ) -> Bool {
    bytes.count == TarWriter.blockSize && make(path: path, kind, size: size, linkTarget: linkTarget) && equal(block.span, bytes)
  }

  /// Writes the header of an entry to `target`, or does nothing and returns false where it is not a plain one.
  mutating func write(_ header: TarHeader, to target: inout MutableSpan<UInt8>) -> Bool {
    guard make(header) else { return false }
    copy(block.span, to: &target)
    return true
  }

  private mutating func make(_ header: TarHeader) -> Bool {
    header.path.withBytes { path in
      (header.linkTarget ?? "").withBytes { make(path: path, header.kind, size: header.size, linkTarget: $0) }
    }
  }

  /// Makes the header of an entry, or returns false where it is not a plain one.
  private mutating func make(path: Span<UInt8>, _ kind: IndexRecord.Kind, size: UInt64, linkTarget: Span<UInt8>) -> Bool {
    let isDirectory = kind == .directory
    guard !path.isEmpty, linkTarget.count <= 100, size < 1 << 33, let start = Self.startOfName(path, isDirectory: isDirectory) else {
      return false
    }
    // Moved out and back: a span of one field would borrow all of them.
    var block: [UInt8] = []
    swap(&block, &self.block)
    defer { swap(&block, &self.block) }
    var target = block.mutableSpan
    var sum = fixedSum
    var bits: UInt8 = 0
    func put(_ bytes: Span<UInt8>, at offset: Int, before end: inout Int, _ target: inout MutableSpan<UInt8>) {
      for index in 0..<bytes.count {
        let byte = bytes[index]
        target[offset + index] = byte
        bits |= byte
        sum += Int(byte)
      }
      let newEnd = offset + bytes.count
      if newEnd < end { for index in newEnd..<end { target[index] = 0 } }
      end = newEnd
    }
    func put(_ byte: UInt8, at offset: Int, _ target: inout MutableSpan<UInt8>) {
      target[offset] = byte
      sum += Int(byte)
    }
    put(path.extracting(start...), at: Field.name, before: &nameEnd, &target)
    if isDirectory {
      put(Self.slash, at: nameEnd, &target)
      nameEnd += 1
    }
    put(path.extracting(first: max(0, start - 1)), at: Field.prefix, before: &prefixEnd, &target)
    put(linkTarget, at: Field.linkName, before: &linkEnd, &target)
    guard bits < 0x80 else { return false }
    let mode: (UInt8, UInt8) = kind == .file ? (UInt8(ascii: "6"), UInt8(ascii: "4")) : (UInt8(ascii: "7"), UInt8(ascii: "5"))
    put(mode.0, at: Field.mode, &target)
    put(mode.1, at: Field.mode + 1, &target)
    put(mode.1, at: Field.mode + 2, &target)
    put(UInt8(ascii: isDirectory ? "5" : linkTarget.isEmpty ? "0" : "1"), at: Field.type, &target)
    var rest = size
    for index in (Field.size..<Field.size + 11).reversed() {
      put(UInt8(ascii: "0") + UInt8(rest & 7), at: index, &target)
      rest >>= 3
    }
    for index in (Field.checksum..<Field.checksum + 6).reversed() {
      target[index] = UInt8(ascii: "0") + UInt8(sum & 7)
      sum >>= 3
    }
    return true
  }

  /// Where the part of a path starts that is stored as name; what comes before its `/` is the prefix. Nil where it cannot be split.
  private static func startOfName(_ path: Span<UInt8>, isDirectory: Bool) -> Int? {
    let length = path.count + (isDirectory ? 1 : 0)
    guard length > 100 else { return 0 }
    for index in length - 101..<path.count - 1 where path[index] == slash {
      return index <= 155 ? index + 1 : nil
    }
    return nil
  }
}
