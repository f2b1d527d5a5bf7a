import TestSupport

/// Returns the code of the error that `body` throws, or nil if it does not throw.
func code(_ body: () throws(PackError) -> Void) -> PackError.Code? {
  do throws(PackError) {
    try body()
    return nil
  } catch {
    return error.code
  }
}

/// Returns the error that `body` throws, or nil if it does not throw.
func failure(_ body: () async throws(PackError) -> Void) async -> PackError? {
  do throws(PackError) {
    try await body()
    return nil
  } catch {
    return error
  }
}

/// Opens a pack with the known key.
func open(
  _ path: String, files: any FileSystem = FaultyFiles(), backend: any CryptoBackend = CryptoBackends.standard
) throws(PackError) -> Pack {
  let bytes = (0..<32).map { UInt8($0) }
  return try Pack(path, key: try PackKey(bytes: bytes.byteSpan), files: files, backend: backend)
}

extension Pack {
  /// The compressed bytes of each frame of the tar.
  func compressedFrames() throws(PackError) -> [[UInt8]] {
    let reader = try PackReader(self)
    var frames: [[UInt8]] = []
    for number in 0..<table.dataFrameCount {
      frames.append(try reader.payload(table[number].offset..<table[number].offset + UInt64(table[number].compressedSize)))
    }
    return frames
  }
}

/// SHA-256 in hex.
func sha256(_ bytes: [UInt8]) throws -> String {
  let digest = try CryptoBackends.standard.makeDigest()
  try digest.update(bytes.byteSpan)
  return try digest.finish().hex
}

extension Monitor {
  /// Waits until the value satisfies the condition.
  func waitUntil(_ isReached: (State) -> Bool) {
    _ = wait { isReached($0) ? true : nil }
  }
}
