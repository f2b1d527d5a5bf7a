/// A source of bytes that are read by offset: a file, memory, or the plaintext of an encrypted body.
package protocol ByteSource: AnyObject {
  /// Fills `buffer` with the bytes that start at `offset`, or throws. After an error `buffer` contains only zeros and authenticated bytes.
  func read(at offset: UInt64, into buffer: inout MutableSpan<UInt8>) throws(PackError)
}
