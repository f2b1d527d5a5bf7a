import Foundation

/// One vector of an opener of Tests/Vectors (FORMAT.md §10.6).
package struct OpenerVector: Sendable {
  /// What the entry of the pack says of the opener.
  private struct Said: Decodable {
    let opens: String?
    let sha256: String
    let size: UInt64
  }

  package private(set) var expect = ""
  /// The key at hand, 32 bytes.
  package private(set) var key: [UInt8] = []
  /// The bytes of the pack.
  package private(set) var pack: [UInt8] = []
  /// What the entry of the pack says of the opener.
  package private(set) var opener = ManifestOpener(size: 0, sha256: [])
  /// The bytes of the opener.
  package let bytes: [UInt8]

  private static let folder = VectorFolder("openers", ending: ".opener-vector")

  /// The names of all vectors, without folder and ending.
  package static let all = folder.names

  package init(named name: String) throws {
    let file = try Self.folder.vector(named: name)
    bytes = file.bytes
    for (number, (name, value, line)) in file.lines.enumerated() {
      switch name {
      case "expect" where number == 0: expect = value
      case "key": key = try TestVector.bytes(hex: value)
      case "comment": break
      case "pack": pack = try Self.folder.contents(of: "packs/\(value)")
      case "opener":
        let said = try JSONDecoder().decode(Said.self, from: Data(value.utf8))
        opener = ManifestOpener(
          opens: said.opens.flatMap(ManifestTime.init), size: said.size, sha256: try TestVector.bytes(hex: said.sha256))
      default: throw TestVector.Fault("'\(line)' is not allowed here")
      }
    }
    guard !expect.isEmpty, !key.isEmpty, !pack.isEmpty, !opener.sha256.isEmpty else {
      throw TestVector.Fault("the header is not complete")
    }
  }

  /// The entry of the pack, as far as openers need it.
  package var entry: ManifestPack {
    get throws {
      let digest = try CryptoBackends.standard.digest(of: pack.byteSpan)
      var entry = ManifestPack(
        id: "vector", version: UInt64(pack[24]), url: "https://cdn.example.com/vector.pack", size: UInt64(pack.count), sha256: digest,
        contentRoot: digest, contentSize: 1, installSize: 1, files: 3, maxFrame: 1, keyID: Array(pack[104..<112]).hex, delivery: .prefetch,
        install: .packed)
      entry.opener = opener
      return entry
    }
  }
}
