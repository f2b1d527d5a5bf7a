/// One manifest vector of Tests/Vectors (FORMAT.md §10.2).
package struct ManifestVector: Sendable {
  /// A pack that a vector lists for an `ok` manifest.
  package struct Pack: Hashable, Sendable {
    package let id: String
    package let version: UInt64
    package let size: UInt64

    package init(id: String, version: UInt64, size: UInt64) {
      self.id = id
      self.version = version
      self.size = size
    }
  }

  package private(set) var expect = ""
  /// The trusted public keys, as in the vector.
  package private(set) var trusted: [[UInt8]] = []
  /// The keys document that the app embeds, if it embeds one.
  package private(set) var embedded: [UInt8]?
  /// The version of the newest keys document afterwards.
  package private(set) var keysVersion: UInt64?
  package private(set) var version: UInt64?
  package private(set) var signers: [String] = []
  package private(set) var packs: [Pack] = []
  /// The bytes of the manifest.
  package let manifest: [UInt8]

  private static let folder = VectorFolder("manifest", ending: ".manifest-vector")

  /// The names of all vectors, without folder and ending.
  package static let all = folder.names

  package init(named name: String) throws {
    let file = try Self.folder.vector(named: name)
    manifest = file.bytes
    for (number, (name, value, line)) in file.lines.enumerated() {
      switch name {
      case "expect" where number == 0: expect = value
      case "trust": trusted.append(try TestVector.bytes(hex: value))
      case "embed": embedded = Array(value.utf8)
      case "keys": keysVersion = UInt64(value)
      case "comment": break
      case "version" where expect == "ok": version = UInt64(value)
      case "signer" where expect == "ok": signers.append(value)
      case "pack" where expect == "ok":
        let parts = value.split(separator: " ")
        guard parts.count == 3, let version = UInt64(parts[1]), let size = UInt64(parts[2]) else {
          throw TestVector.Fault("'\(line)' is not a pack")
        }
        packs.append(Pack(id: String(parts[0]), version: version, size: size))
      default: throw TestVector.Fault("'\(line)' is not allowed here")
      }
    }
    guard !expect.isEmpty, (version != nil) == (expect == "ok"), (embedded == nil) == (keysVersion == nil) else {
      throw TestVector.Fault("the header is not complete")
    }
  }
}
