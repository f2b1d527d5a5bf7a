/// Copies files.
package enum FileCopy {
  /// Copies a file. The copy appears whole or not at all, over an earlier file.
  package static func run(_ source: String, to place: String, files: any FileSystem) throws(PackError) {
    let (file, status) = try files.openFile(source)
    let output = try OutputFile(place, files: files)
    try output.reserve(status.size)
    var offset: UInt64 = 0
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while offset < status.size {
      guard !Task.isCancelled else { throw PackError(.cancelled, "cancelled") }
      var span = buffer.mutableByteSpan
      let count = try files.read(file, at: offset, filling: &span, name: source)
      guard count > 0 else { throw PackError(.sourceChanged, of: source, "became shorter while it was read") }
      try output.write(buffer.byteSpan.extracting(first: count), at: offset, of: status.size)
      offset += UInt64(count)
    }
    try output.commit()
  }
}
