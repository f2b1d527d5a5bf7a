/// Computes the SHA-256 of a file on the disk.
package enum FileDigest {
  package static func run(
    _ name: String, in directory: OpenFile?, title: String, files: any FileSystem, backend: any CryptoBackend
  ) throws(PackError) -> (size: UInt64, sha256: [UInt8]) {
    let file = try reading(title, files.open(name, .readUnlinked, in: directory))
    guard try reading(title, files.status(of: file)).kind == .file else { throw FileFailure.isDirectory.reading(title) }
    let digest = try backend.makeDigest()
    var size: UInt64 = 0
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      var span = buffer.mutableByteSpan
      let count = try files.read(file, at: size, filling: &span, name: title)
      guard count > 0 else { return (size, try digest.finish()) }
      try digest.update(buffer.byteSpan.extracting(first: count))
      size += UInt64(count)
    }
  }
}
