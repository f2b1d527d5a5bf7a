/// The records of one block of the index as they are stored (FORMAT.md §4.6): all paths, then all types, sizes and steps.
///
/// Memory: 22 bytes for each record, and its path.
package struct RecordColumns: Sendable {
  /// The paths, each followed by a zero, and the types.
  package let bytes: [UInt8]
  /// Where each path starts in ``bytes``, and where the types start.
  private let starts: [UInt32]
  private let sizes: [UInt64]
  private let offsets: [UInt64]
  /// For each record the earlier one with the same content, or its own number.
  private let originals: [UInt8]

  /// The columns of some records.
  package static func bytes(for records: [IndexRecord]) -> [UInt8] {
    var bytes: [UInt8] = []
    for record in records {
      bytes += record.path
      bytes.append(0)
    }
    for record in records { bytes.append(record.kind.rawValue) }
    var end = ContentEnd()
    appendPlanes(records.map { $0.size }, to: &bytes)
    appendPlanes(records.map { end.step(toSize: $0.size, at: $0.offset) }, to: &bytes)
    return bytes
  }

  /// Divides the bytes of a block into the columns of `count` records. Does not check the records themselves.
  ///
  /// - Parameters:
  ///   - exactly: Whether nothing may follow the last column.
  ///   - name: The name of the block in messages.
  package init(parsing bytes: [UInt8], count: Int, exactly: Bool, name: String) throws(PackError) {
    var starts: [UInt32] = [0]
    starts.reserveCapacity(count + 1)
    var place = 0
    do {
      let bytes = bytes.byteSpan
      while starts.count <= count, place < bytes.count {
        if bytes[place] == 0 { starts.append(UInt32(place + 1)) }
        place += 1
      }
    }
    let rest = bytes.count - place - Self.fixedSize * count
    guard starts.count == count + 1, rest >= 0 else {
      throw PackError(.damagedPayload, "\(name) ends inside its records")
    }
    guard rest == 0 || !exactly else { throw PackError(.damagedPayload, "\(name) is longer than its records need") }
    let sizes = Self.planes(of: bytes, at: place + count, count: count)
    var offsets = Self.planes(of: bytes, at: place + 9 * count, count: count)
    var end = ContentEnd()
    for row in 0..<count { offsets[row] = end.offset(ofSize: sizes[row], step: offsets[row]) }
    var bytes = bytes
    bytes.removeSubrange((place + count)...)
    self.bytes = bytes
    self.starts = starts
    self.sizes = sizes
    self.offsets = offsets
    originals = Self.originals(sizes, offsets)
  }

  /// Finds the records with the same content through chains of those whose offsets end alike.
  private static func originals(_ sizes: [UInt64], _ offsets: [UInt64]) -> [UInt8] {
    var originals = [UInt8](repeating: 0, count: sizes.count)
    var (last, earlier) = ([Int](repeating: -1, count: 256), [Int](repeating: -1, count: sizes.count))
    for row in sizes.indices {
      originals[row] = UInt8(row)
      guard sizes[row] > 0 else { continue }
      let chain = Int(offsets[row] >> 9 & 255)
      var other = last[chain]
      while other >= 0, offsets[other] != offsets[row] { other = earlier[other] }
      if other >= 0 {
        originals[row] = UInt8(other)
      } else {
        earlier[row] = last[chain]
        last[chain] = row
      }
    }
    return originals
  }

  /// The bytes of a record beside its path and the zero behind it: type, size and step.
  package static let fixedSize = 17

  package var count: Int { sizes.count }
  /// The memory in use, in bytes.
  package var memorySize: Int { bytes.capacity + 4 * starts.capacity + 8 * (sizes.capacity + offsets.capacity) + originals.capacity }

  /// Where the path of record `row` is in ``bytes``.
  package func path(_ row: Int) -> Range<Int> { Int(starts[row])..<Int(starts[row + 1]) - 1 }
  package func type(_ row: Int) -> UInt8 { bytes[Int(starts[count]) + row] }
  /// The length of the content in bytes; 0 for a directory.
  package func size(_ row: Int) -> UInt64 { sizes[row] }
  /// Where the content starts in the tar, in bytes; 0 if there is none.
  package func offset(_ row: Int) -> UInt64 { offsets[row] }

  /// The first record whose content is at the same place as that of record `row`, and which has its digest: `row` itself, or an earlier one.
  package func original(of row: Int) -> Int { Int(originals[row]) }

  /// Checks a record, in the order of its fields (FORMAT.md §4.9).
  ///
  /// - Parameter tarSize: The length of the tar, in bytes, that must have the content.
  package func check(_ row: Int, tarSize: UInt64) throws(PackError) {
    let path = bytes.byteSpan.extracting(path(row))
    _ = try IndexRecord.check(type: type(row), path: path, size: size(row))
    if let problem = placeProblem(row, tarSize: tarSize) {
      throw PackError(.damagedPayload, "entry '\(printable([UInt8](copying: path)))' \(problem)")
    }
  }

  private func placeProblem(_ row: Int, tarSize: UInt64) -> String? {
    let (size, offset) = (sizes[row], offsets[row])
    guard size > 0 else { return offset == 0 ? nil : "is empty, but has a place" }
    // The data is between the first header and the closing 1024 bytes.
    guard offset % 512 == 0, offset >= 512, tarSize >= 1024, size <= tarSize, offset <= tarSize - 1024,
      size <= tarSize - 1024 - offset
    else { return "claims \(size) bytes at \(offset), outside a tar of \(tarSize) bytes" }
    return nil
  }

  // MARK: Planes

  /// Appends numbers by planes: byte 0 of each, then byte 1 of each, to byte 7.
  private static func appendPlanes(_ numbers: [UInt64], to bytes: inout [UInt8]) {
    for byte in 0..<8 as Range<UInt64> {
      for number in numbers { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * byte))) }
    }
  }

  private static func planes(of bytes: [UInt8], at start: Int, count: Int) -> [UInt64] {
    var numbers = [UInt64](repeating: 0, count: count)
    let bytes = bytes.byteSpan
    for byte in 0..<8 {
      let plane = bytes.extracting(start + byte * count..<start + (byte + 1) * count)
      // The high ones are zero, but for large contents.
      for row in 0..<count where plane[row] != 0 { numbers[row] |= UInt64(plane[row]) << UInt64(8 * byte) }
    }
    return numbers
  }
}

/// Where the next content is expected: one block behind the end of the content before, for its header.
private struct ContentEnd {
  private var place: UInt64 = 0

  /// The step of a record: how many blocks of 512 bytes its content is behind the expected place, with the sign in bit 0.
  mutating func step(toSize size: UInt64, at offset: UInt64) -> UInt64 {
    guard size > 0 else { return 0 }
    let blocks = (Int64(bitPattern: offset) &- Int64(bitPattern: place)) / 512
    pass(size, at: offset)
    return UInt64(bitPattern: blocks << 1 ^ blocks >> 63)
  }

  /// The offset of a record. Where the step leads outside 64 bits, it is no multiple of 512.
  mutating func offset(ofSize size: UInt64, step: UInt64) -> UInt64 {
    guard size > 0 else { return step }
    let blocks = Int64(bitPattern: step >> 1) ^ -Int64(bitPattern: step & 1)
    let (bytes, isTooFar) = blocks.multipliedReportingOverflow(by: 512)
    let (offset, isOutside) = Int64(bitPattern: place).addingReportingOverflow(bytes)
    guard !isTooFar, !isOutside, offset >= 0 else { return .max }
    pass(size, at: UInt64(offset))
    return UInt64(offset)
  }

  /// Content that the tar cannot hold ends anywhere: it is refused.
  private mutating func pass(_ size: UInt64, at offset: UInt64) {
    place = offset &+ (size &+ 511) / 512 * 512 &+ 512
  }
}
