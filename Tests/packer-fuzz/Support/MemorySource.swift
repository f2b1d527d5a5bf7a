/// A byte source over bytes in memory.
final class MemorySource: ByteSource {
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  func read(at offset: UInt64, into buffer: inout MutableSpan<UInt8>) throws(PackError) {
    guard offset <= UInt64(bytes.count), buffer.count <= bytes.count - Int(offset) else {
      throw PackError(.damagedPayload, "a read goes beyond the end")
    }
    // A span of an array in a class property cannot be passed on.
    let bytes = bytes
    copy(bytes.byteSpan.extracting(Int(offset)..<Int(offset) + buffer.count), to: &buffer)
  }
}
