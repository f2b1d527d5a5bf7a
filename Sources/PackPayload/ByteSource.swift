package import PackFormat

/// Somewhere to read bytes from by offset: a file, memory, or the plaintext of an encrypted body.
package protocol ByteSource: AnyObject {
  /// Fills all of `buffer` with the bytes from `offset` on, or throws. What is in `buffer` after an error is zeros or bytes that
  /// were authenticated.
  func read(at offset: UInt64, into buffer: inout MutableSpan<UInt8>) throws(PackError)
}
