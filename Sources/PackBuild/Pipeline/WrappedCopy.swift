/// A copy of a pack for other recipients: another header, and the same body byte for byte (FORMAT.md §2.6).
package struct WrappedCopy: Sendable {
  /// The key that the pack was made with.
  package let keyID: KeyID
  /// The keys for which the copy is wrapped.
  package let recipientIDs: [KeyID]
  /// The size of the copy in bytes.
  package let packSize: UInt64
  /// The SHA-256 of the copy, 32 bytes.
  package let sha256: [UInt8]

  /// Writes a copy of the pack at `path`, whole or not at all.
  ///
  /// The pack is opened first, a delta without its bases. Its segments are copied as they are, and not verified one by one.
  ///
  /// - Parameters:
  ///   - key: any key that opens the pack.
  ///   - change: adds and removes recipients.
  /// - Throws: the errors of opening a pack, of `change`, and of writing.
  package static func write(
    _ path: String, to output: String, key: borrowing PackKey, files: any FileSystem = SystemFiles(), progress: ProgressHandler? = nil,
    change: (inout HeaderRewrite) throws(PackError) -> Void
  ) async throws(PackError) -> WrappedCopy {
    let (start, pack) = try Pack.openAlone(path, key: key, files: files)
    var rewrite = try HeaderRewrite(start.bytes.byteSpan, key: key)
    try attributing(to: path) { () throws(PackError) in try change(&rewrite) }
    let header = try rewrite.seal()
    let (keyID, recipientIDs) = (rewrite.stanzas.keyID, try KeyStanzas.parse(rewrite.stanzas.bytes.byteSpan).recipientIDs)

    let layout = pack.layout
    let bodySize = layout.packSize - UInt64(start.bytes.count)
    let size = UInt64(header.count) + bodySize
    let file = try OutputFile(files.target(of: output), files: files)
    try file.reserve(size)
    let counter = ProgressCounter(.sealing, total: size, handler: progress)
    let sha256 = try await WorkerPool.value { (pool) throws(PackError) -> [UInt8] in
      let digest = try CryptoBackends.standard.makeDigest()
      try digest.update(header.byteSpan)
      try file.write(header.byteSpan, at: 0, of: size)
      let bodyStart = UInt64(start.bytes.count)
      try files.forEachPiece(of: start.file, bodyStart..<bodyStart + bodySize, name: path, checkpoint: pool.checkpoint) {
        (piece, offset) throws(PackError) in
        try digest.update(piece)
        try file.write(piece, at: UInt64(header.count) + offset - bodyStart, of: size)
        counter.add(UInt64(piece.count))
      }
      return try digest.finish()
    }
    try file.commit()
    return WrappedCopy(keyID: keyID, recipientIDs: recipientIDs, packSize: size, sha256: sha256)
  }
}

extension WrappedCopy {
  /// - Parameter path: the path of the copy.
  package func json(at path: String) -> JSON {
    [
      "type": "pack", "output": .text(path), "keyID": .text("\(keyID)"), "recipients": .texts(recipientIDs.map(\.description)),
      "size": .number(packSize), "sha256": .text(sha256.hex),
    ]
  }
}
