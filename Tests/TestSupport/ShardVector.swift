/// One vector of a shard of Tests/Vectors (FORMAT.md §10.3).
package struct ShardVector: Sendable {
  package private(set) var expect = ""
  /// The signed part of a manifest.
  package private(set) var signed: [UInt8] = []
  /// The number of the shard in the signed part.
  package private(set) var shard = 0
  /// The ids of the entries, as JSON.
  package private(set) var ids: [String] = []
  /// The bytes of the shard.
  package let bytes: [UInt8]

  private static let folder = VectorFolder("shards", ending: ".shard-vector")

  /// The names of all vectors, without folder and ending.
  package static let all = folder.names

  package init(named name: String) throws {
    let file = try Self.folder.vector(named: name)
    bytes = file.bytes
    for (number, (name, value, line)) in file.lines.enumerated() {
      switch name {
      case "expect" where number == 0: expect = value
      case "signed" where signed.isEmpty: signed = Array(value.utf8)
      case "shard": shard = Int(value) ?? 0
      case "comment": break
      case "id" where expect == "ok": ids.append(value)
      default: throw TestVector.Fault("'\(line)' is not allowed here")
      }
    }
    guard !expect.isEmpty, !signed.isEmpty, ids.isEmpty || expect == "ok" else { throw TestVector.Fault("the header is not complete") }
  }
}
