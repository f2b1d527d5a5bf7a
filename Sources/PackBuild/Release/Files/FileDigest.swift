/// Computes the SHA-256 of a file on the disk.
package enum FileDigest {
  package static func run(
    _ name: String, in directory: OpenFile?, title: String, files: any FileSystem, backend: any CryptoBackend
  ) throws(PackError) -> (size: UInt64, sha256: [UInt8]) {
    let file = try reading(title, files.open(name, .readUnlinked, in: directory))
    guard try reading(title, files.status(of: file)).kind == .file else { throw FileFailure.isDirectory.reading(title) }
    let digest = try backend.makeDigest()
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    let size = try files.hash(file, by: digest, buffer: &buffer, name: title, each: Task.checkpoint)
    return (size, try digest.finish())
  }
}
