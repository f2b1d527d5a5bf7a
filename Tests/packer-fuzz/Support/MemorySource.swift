import PackFormat
import PackPayload

/// Bytes in memory as a source, which ends where they do.
final class MemorySource: ByteSource {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  func read(at offset: UInt64, into buffer: inout MutableSpan<UInt8>) throws(PackError) {
    guard offset <= UInt64(bytes.count), buffer.count <= bytes.count - Int(offset) else {
      throw PackError(.damagedPayload, "bytes behind the end are asked for")
    }
    // A span of a class's own array cannot be lent.
    let bytes = bytes
    copy(bytes.span.extracting(Int(offset)..<Int(offset) + buffer.count), to: &buffer)
  }
}
