/// The bytes of a header (FORMAT.md §4.2.2, §4.2.3).
extension TarHeader {
  /// The header: one block, or a pax header and one block.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  /// Appends the header to `bytes`.
  package func append(to bytes: inout [UInt8]) {
    var name = Array(path.utf8)
    if kind == .directory { name.append(Self.slash) }
    let target = linkTarget.map { Array($0.utf8) } ?? []
    let cut = Self.cut(of: name)
    var records: [UInt8] = []
    if !isASCII(name.byteSpan) || cut == nil { Self.append("path", name, to: &records) }
    if !isASCII(target.byteSpan) || target.count > Self.nameSize { Self.append("linkpath", target, to: &records) }
    if size >= Self.octalSizeEnd { Self.append("size", Array("\(size)".utf8), to: &records) }
    if !records.isEmpty {
      Self.append(Block(size: UInt64(records.count), type: "x"), name: Self.paxName.byteSpan, to: &bytes)
      bytes += records
      bytes += repeatElement(0, count: (Self.blockSize - records.count % Self.blockSize) % Self.blockSize)
    }
    var block = Block(isPlain: kind == .file, size: size, type: kind == .directory ? "5" : linkTarget == nil ? "0" : "1")
    block.target = target
    if let cut, cut > 0 {
      block.prefix = Array(name[..<cut])
      name.removeSubrange(...cut)
    }
    Self.append(block, name: name.byteSpan, to: &bytes)
  }

  private static let paxName = Array("PaxHeader".utf8)
  private static let slash = UInt8(ascii: "/")
  private static let prefixSize = 155

  /// Returns where a name is split into prefix and name: at a slash, or at 0 if it needs no prefix. Nil if it does not fit.
  private static func cut(of name: [UInt8]) -> Int? {
    guard name.count > nameSize else { return 0 }
    let place = name[(name.count - nameSize - 1)...].firstIndex(of: slash)
    return place.flatMap { $0 <= prefixSize && $0 < name.count - 1 ? $0 : nil }
  }

  /// Appends a record of a pax header: its length, which counts its own digits, key and value.
  private static func append(_ key: String, _ value: [UInt8], to records: inout [UInt8]) {
    let rest = key.utf8.count + value.count + 3
    var length = rest + 1
    while "\(length)".utf8.count + rest > length { length += 1 }
    records += "\(length) \(key)=".utf8
    records += value
    records.append(UInt8(ascii: "\n"))
  }

  /// The fields of a block that differ between entries, but for the name.
  private struct Block {
    var isPlain = true
    let size: UInt64
    let type: UnicodeScalar
    var target: [UInt8] = []
    var prefix: [UInt8] = []
  }

  /// A block with the fields that all entries share, and spaces in the place of the checksum. Its mode is 0644.
  private static let template: [UInt8] = {
    var block = [UInt8](repeating: 0, count: blockSize)
    let fields = [
      (100, "000644 "), (108, "000000 "), (116, "000000 "), (136, "00000000000 "), (148, "        "), (257, "ustar"), (263, "00"),
      (329, "000000 "), (337, "000000 "),
    ]
    for (offset, text) in fields { block.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8) }
    return block
  }()

  private static func append(_ block: Block, name: Span<UInt8>, to bytes: inout [UInt8]) {
    let start = bytes.count
    bytes += template
    var whole = bytes.mutableByteSpan
    var target = whole._mutatingExtracting(start...)
    copy(name.extracting(first: nameSize), to: &target)
    // 0755.
    if !block.isPlain { (target[103], target[104], target[105]) = (0x37, 0x35, 0x35) }
    put(size: block.size, in: &target)
    target[156] = UInt8(ascii: block.type)
    copy(block.target.byteSpan.extracting(first: nameSize), to: &target, at: 157)
    copy(block.prefix.byteSpan, to: &target, at: 345)
    put(UInt64(sum(of: target.span)), digits: 6, at: 148, in: &target)
    target[154] = 0
  }

  /// Additions that wrap are done for several bytes at once.
  private static func sum(of block: Span<UInt8>) -> UInt32 {
    var sum: UInt32 = 0
    for index in block.indices { sum &+= UInt32(block[index]) }
    return sum
  }

  private static func put(size: UInt64, in target: inout MutableSpan<UInt8>) {
    if size < 1 << 36 {
      put(size, digits: size < octalSizeEnd ? 11 : 12, at: 124, in: &target)
      if size < octalSizeEnd { target[135] = UInt8(ascii: " ") }
    } else {
      target[124] = 0x80
      for index in 0..<8 { target[128 + index] = UInt8(truncatingIfNeeded: size >> UInt64(56 - 8 * index)) }
    }
  }

  private static func put(_ number: UInt64, digits: Int, at offset: Int, in target: inout MutableSpan<UInt8>) {
    for index in 0..<digits { target[offset + index] = UInt8(ascii: "0") + UInt8(number >> UInt64(3 * (digits - 1 - index)) & 7) }
  }
}
