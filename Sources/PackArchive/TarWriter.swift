package import PackFormat

/// What the tar says of one entry (FORMAT.md §4.2).
package struct TarHeader: Hashable, Sendable {
  package var path: String
  package var kind: IndexRecord.Kind
  /// The length of the content that follows, in bytes: 0 for a link.
  package var size: UInt64
  /// The path of the earlier entry that holds the same content.
  package var linkTarget: String?

  package init(path: String, kind: IndexRecord.Kind, size: UInt64, linkTarget: String?) {
    self.path = path
    self.kind = kind
    self.size = size
    self.linkTarget = linkTarget
  }

  /// Whether the header is surely one block of 512 bytes. Others may carry a pax header, and have to be made to be measured.
  package var isOneBlock: Bool {
    func fits(_ text: String, _ slash: Int) -> Bool {
      text.withBytes { bytes in
        guard bytes.count + slash <= 100 else { return false }
        var bits: UInt8 = 0
        for index in bytes.indices { bits |= bytes[index] }
        return bits < 0x80
      }
    }
    return fits(path, kind == .directory ? 1 : 0) && fits(linkTarget ?? "", 0) && size < 8 << 30
  }
}

/// Makes the headers of tar entries through libarchive. One worker's own.
///
/// A header depends on its entry alone, so any number of workers can make those of different frames, and the content is read from its
/// file straight into the frame without passing through libarchive.
package final class TarWriter {
  private var handle: WriteHandle?
  private var lastSize: UInt64 = 0

  /// The zeros that end every tar, in bytes.
  package static let endSize = 1024
  /// The bytes of a header without a pax header.
  package static let blockSize = 512

  /// Blocks that libarchive made, to be filled in: by type of entry.
  private var templates: [UInt8: Template] = [:]
  private var scratch: [UInt8] = []

  package init() {}

  /// Appends the header of an entry to `bytes`: one block, or a pax header and one block.
  package func appendHeader(_ header: TarHeader, to bytes: inout [UInt8]) throws(PackError) {
    // Before the next header libarchive passes zeros in place of the content that it was not given. A new writer is cheaper than many of them.
    if handle == nil || lastSize > 4 << 20 {
      handle = try WriteHandle()
    }
    lastSize = header.size
    try handle?.writeHeader(header, to: &bytes)
  }

  /// Writes the header of an entry that is one block.
  ///
  /// Nearly all are, and differ in three fields only: those are put into a block that libarchive made for another entry, which takes a
  /// tenth of the time. The tests hold the result against libarchive's own.
  package func writeBlock(_ header: TarHeader, to block: inout MutableSpan<UInt8>) throws(PackError) {
    precondition(block.count == Self.blockSize)
    var scratch: [UInt8] = []
    swap(&scratch, &self.scratch)
    defer { swap(&scratch, &self.scratch) }
    scratch.removeAll(keepingCapacity: true)
    guard header.isOneBlock else {
      try appendHeader(header, to: &scratch)
      guard scratch.count == Self.blockSize else {
        throw PackError(.internalError, "the tar header of '\(header.path)' is \(scratch.count) bytes, not \(Self.blockSize)")
      }
      copy(scratch.span, to: &block)
      return
    }
    let template = try template(for: header)
    scratch.append(copying: template.block.span)
    var sum = template.sum
    sum += put(header.path, at: 0, &scratch)
    if header.kind == .directory { sum += put("/", at: header.path.utf8.count, &scratch) }
    if let target = header.linkTarget { sum += put(target, at: Field.linkName, &scratch) }
    sum += putOctal(header.size, digits: 11, at: Field.size, &scratch)
    _ = putOctal(UInt64(sum), digits: 6, at: Field.checksum, &scratch)
    copy(scratch.span, to: &block)
  }

  /// Puts a text into the block, and returns the sum of its bytes.
  private func put(_ text: String, at start: Int, _ block: inout [UInt8]) -> Int {
    text.withBytes { bytes in
      var sum = 0
      for index in bytes.indices {
        block[start + index] = bytes[index]
        sum += Int(bytes[index])
      }
      return sum
    }
  }

  /// Puts a number in octal digits into the block, and returns their sum.
  private func putOctal(_ value: UInt64, digits: Int, at start: Int, _ block: inout [UInt8]) -> Int {
    var rest = value
    var sum = 0
    for index in (start..<start + digits).reversed() {
      let digit = UInt8(ascii: "0") + UInt8(rest & 7)
      block[index] = digit
      sum += Int(digit)
      rest >>= 3
    }
    return sum
  }

  /// Offsets of the fields that differ (FORMAT.md §4.2.2).
  private enum Field {
    static let size = 124
    static let checksum = 148
    static let linkName = 157
  }

  /// A block whose name, link name and size are to be filled in.
  private struct Template {
    var block: [UInt8]
    /// What the bytes that stay add to the checksum, its own field taken as spaces.
    var sum: Int
  }

  private func template(for header: TarHeader) throws(PackError) -> Template {
    let type = header.kind.rawValue | (header.linkTarget == nil ? 0 : 0x40)
    if let known = templates[type] { return known }
    // Zeros stand behind a name, so a name of one byte leaves one to clear; two where a slash follows.
    let sample = TarHeader(path: "x", kind: header.kind, size: 0, linkTarget: header.linkTarget == nil ? nil : "x")
    var block: [UInt8] = []
    try appendHeader(sample, to: &block)
    guard block.count == Self.blockSize else {
      throw PackError(.internalError, "libarchive made a header of \(block.count) bytes for a short name")
    }
    for index in [0, 1, Field.linkName] + Array(Field.size..<Field.size + 11) + Array(Field.checksum..<Field.checksum + 8) {
      block[index] = 0
    }
    let sum = block.reduce(0) { $0 + Int($1) } + 8 * Int(UInt8(ascii: " "))
    block[Field.checksum + 7] = UInt8(ascii: " ")
    let template = Template(block: block, sum: sum)
    templates[type] = template
    return template
  }
}
