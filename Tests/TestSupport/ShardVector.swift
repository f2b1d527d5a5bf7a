import Foundation

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

  private static var folder: URL { TestVector.folder.appendingPathComponent("shards") }

  /// The names of all vectors, without folder and ending.
  package static let all: [String] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(".shard-vector") }.map { String($0.dropLast(".shard-vector".count)) }.sorted()
  }()

  package init(named name: String) throws {
    let file = [UInt8](try Data(contentsOf: Self.folder.appendingPathComponent(name + ".shard-vector")))
    guard let end = file.firstRange(of: [0x0A, 0x0A]) else { throw TestVector.Fault("the header has no end") }
    bytes = Array(file[end.upperBound...])
    for (number, line) in String(decoding: file[..<end.lowerBound], as: UTF8.self).split(separator: "\n").enumerated() {
      guard let colon = line.firstRange(of: ": ") else { throw TestVector.Fault("'\(line)' is not a header line") }
      let value = String(line[colon.upperBound...])
      switch line[..<colon.lowerBound] {
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
