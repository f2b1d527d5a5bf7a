import TestSupport

extension FuzzTarget {
  /// The file that opens an edition, before any of it is authenticated.
  static let opener = FuzzTarget(
    "opener", largestInput: 256, files: ["Sources/PackCrypto/Opener.swift"],
    seeds: { try OpenerVector.all.map { FuzzSeed($0, try OpenerVector(named: $0).bytes) } },
    run: { (bytes) throws(BrokenPromise) in
      guard let opener = try accepted({ () throws(PackError) in try Opener(parsing: bytes) }) else { return }
      try hold(opener.bytes == bytes && bytes.count == Opener.size, "an opener has other bytes than it was read from")
      try hold(opener.edition.version <= Limits.packVersion, "an opener has a version that no pack has")
    })
}
