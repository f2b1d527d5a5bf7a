// libarchive writes the same bytes. Clients do not link it.
extension TarHeader {
  /// The header of the entry: one block, or a pax header and one block (FORMAT.md §4.2.2, §4.2.3).
  package var bytes: [UInt8] {
    let name = Array(path.utf8) + (kind == .directory ? [Self.slash] : [])
    let target = linkTarget.map { Array($0.utf8) } ?? []
    var records: [UInt8] = []
    let isLong = !isASCII(name.byteSpan) || Self.cut(of: name) == nil
    if isLong { Self.append("path", name, to: &records) }
    if !isASCII(target.byteSpan) || target.count > Self.nameSize { Self.append("linkpath", target, to: &records) }
    if size >= 8 << 30 { Self.append("size", Array("\(size)".utf8), to: &records) }

    let shown = isLong ? Self.shortened(name, inserting: nil) : name
    var bytes: [UInt8] = []
    if !records.isEmpty {
      let own = Self.shortened(shown.last == Self.slash ? shown.dropLast() : shown[...], inserting: "PaxHeader")
      bytes += block(own, type: "x", size: UInt64(records.count), target: [])
      bytes += records
      bytes += repeatElement(0, count: (Self.blockSize - records.count % Self.blockSize) % Self.blockSize)
    }
    let type: UnicodeScalar = kind == .directory ? "5" : linkTarget == nil ? "0" : "1"
    return bytes + block(shown, type: type, size: size, target: target.count > Self.nameSize ? Array("././@LongHardLink".utf8) : target)
  }

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

  /// Returns a name that fits into a block, by the rule `shorten` of FORMAT.md §4.2.3.
  private static func shortened(_ name: some BidirectionalCollection<UInt8>, inserting insert: String?) -> [UInt8] {
    let name = Array(name)
    guard insert != nil || name.count >= nameSize else { return name }
    let isDirectory = name.last == slash
    let path = isDirectory ? name.dropLast() : name[...]
    let start = path.lastIndex(of: slash).map { $0 + 1 } ?? 0
    let inserted = insert.map { Array($0.utf8) + [slash] } ?? []
    let room = nameSize - 2 - (isDirectory ? 1 : 0) - (inserted.isEmpty ? 0 : inserted.count + 1)
    let last = path[start...].prefix(room)
    let first = wholeDirectories(path[..<start], upTo: prefixSize)
    let second = wholeDirectories(path[first.endIndex..<start], upTo: room - last.count + 1)
    return first + second + inserted + last + (isDirectory ? [slash] : [])
  }

  /// Returns the longest beginning of at most so many bytes that is empty or ends in a slash.
  private static func wholeDirectories(_ path: ArraySlice<UInt8>, upTo most: Int) -> ArraySlice<UInt8> {
    let part = path.prefix(most)
    return part[..<(part.lastIndex(of: slash).map { $0 + 1 } ?? part.startIndex)]
  }

  private func block(_ name: [UInt8], type: UnicodeScalar, size: UInt64, target: [UInt8]) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: Self.blockSize)
    func put(_ bytes: some Collection<UInt8>, at offset: Int) {
      for (index, byte) in bytes.enumerated() { block[offset + index] = byte }
    }
    // The name was shortened if it does not fit otherwise.
    let cut = Self.cut(of: name) ?? 0
    put(cut == 0 ? name[...] : name[(cut + 1)...], at: 0)
    put((kind == .file ? "000644 " : "000755 ").utf8, at: 100)
    for offset in [108, 116, 329, 337] { put("000000 ".utf8, at: offset) }
    put(Self.text(ofSize: size), at: 124)
    put("00000000000 ".utf8, at: 136)
    put(repeatElement(UInt8(ascii: " "), count: 8), at: 148)
    block[156] = UInt8(ascii: type)
    put(target, at: 157)
    put("ustar".utf8, at: 257)
    put("00".utf8, at: 263)
    put(name[..<cut], at: 345)
    put(Self.octal(block.reduce(0) { $0 + UInt64($1) }, digits: 6) + [0, UInt8(ascii: " ")], at: 148)
    return block
  }

  private static func text(ofSize size: UInt64) -> [UInt8] {
    if size < 1 << 33 { return octal(size, digits: 11) + [UInt8(ascii: " ")] }
    if size < 1 << 36 { return octal(size, digits: 12) }
    return [0x80, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * UInt64($0))) }
  }

  private static func octal(_ number: UInt64, digits: Int) -> [UInt8] {
    (0..<digits).map { UInt8(ascii: "0") + UInt8(number >> UInt64(3 * (digits - 1 - $0)) & 7) }
  }
}
