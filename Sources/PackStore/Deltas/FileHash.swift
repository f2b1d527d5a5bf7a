extension FileSystem {
  /// Adds the content of an open file to a digest. Returns the length of the file in bytes.
  ///
  /// - Parameters:
  ///   - buffer: what is read at once.
  ///   - name: the path of the file, for errors.
  ///   - each: called before each read. If it throws, the work ends.
  package func hash(
    _ file: OpenFile, by digest: any DigestContext, buffer: inout [UInt8], name: String, each: () throws(PackError) -> Void
  ) throws(PackError) -> UInt64 {
    var offset: UInt64 = 0
    while true {
      try each()
      var span = buffer.mutableByteSpan
      let count = try read(file, at: offset, filling: &span, name: name)
      if count > 0 { try digest.update(buffer.byteSpan.extracting(first: count)) }
      offset += UInt64(count)
      if count < buffer.count { return offset }
    }
  }
}
