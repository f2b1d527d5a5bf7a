import Foundation

/// One vector of a lead of Tests/Vectors (FORMAT.md §10.5).
package struct LeadVector: Sendable {
  /// What the entry of the pack says of the lead.
  private struct Stream: Decodable {
    let launch, size, tail: UInt64
    let leaves, sha256: String
  }

  package private(set) var expect = ""
  /// The bytes of the pack.
  package private(set) var pack: [UInt8] = []
  /// What the entry of the pack says of the lead.
  package private(set) var stream = ManifestStream(launch: 0, tail: 0, leaves: [], size: 0, sha256: [])
  /// The files that are read at the launch, for a lead that a writer makes by them.
  package private(set) var launch: [String] = []
  /// The number of the refused segment, if the lead itself is accepted.
  package private(set) var segment: Int?
  /// The bytes of the lead.
  package let bytes: [UInt8]

  private static let folder = VectorFolder("leads", ending: ".lead-vector")

  /// The names of all vectors, without folder and ending.
  package static let all = folder.names

  package init(named name: String) throws {
    let file = try Self.folder.vector(named: name)
    bytes = file.bytes
    for (number, (name, value, line)) in file.lines.enumerated() {
      switch name {
      case "expect" where number == 0: expect = value
      case "comment": break
      case "pack": pack = try Self.folder.contents(of: "packs/\(value)")
      case "stream":
        let said = try JSONDecoder().decode(Stream.self, from: Data(value.utf8))
        stream = ManifestStream(
          launch: said.launch, tail: said.tail, leaves: try TestVector.bytes(hex: said.leaves), size: said.size,
          sha256: try TestVector.bytes(hex: said.sha256))
      case "launch" where expect == "ok": launch.append(value)
      case "segment" where expect != "ok": segment = Int(value)
      default: throw TestVector.Fault("'\(line)' is not allowed here")
      }
    }
    guard !expect.isEmpty, !pack.isEmpty, !stream.sha256.isEmpty else { throw TestVector.Fault("the header is not complete") }
  }
}
