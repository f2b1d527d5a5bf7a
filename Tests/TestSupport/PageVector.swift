import Foundation

/// One vector of a page of Tests/Vectors (FORMAT.md §10.3).
package struct PageVector: Sendable {
  package private(set) var expect = ""
  /// The signed part of a manifest.
  package private(set) var signed: [UInt8] = []
  /// The number of the reference in the signed part.
  package private(set) var page = 0
  /// The keys of the entries, as JSON.
  package private(set) var keys: [String] = []
  /// The bytes of the page.
  package let bytes: [UInt8]

  private static var folder: URL { TestVector.folder.appendingPathComponent("pages") }

  /// The names of all vectors, without folder and ending.
  package static let all: [String] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(".page-vector") }.map { String($0.dropLast(".page-vector".count)) }.sorted()
  }()

  package init(named name: String) throws {
    let file = [UInt8](try Data(contentsOf: Self.folder.appendingPathComponent(name + ".page-vector")))
    guard let end = file.firstRange(of: [0x0A, 0x0A]) else { throw TestVector.Fault("the header has no end") }
    bytes = Array(file[end.upperBound...])
    for (number, line) in String(decoding: file[..<end.lowerBound], as: UTF8.self).split(separator: "\n").enumerated() {
      guard let colon = line.firstRange(of: ": ") else { throw TestVector.Fault("'\(line)' is not a header line") }
      let value = String(line[colon.upperBound...])
      switch line[..<colon.lowerBound] {
      case "expect" where number == 0: expect = value
      case "signed" where signed.isEmpty: signed = Array(value.utf8)
      case "page": page = Int(value) ?? 0
      case "comment": break
      case "key" where expect == "ok": keys.append(value)
      default: throw TestVector.Fault("'\(line)' is not allowed here")
      }
    }
    guard !expect.isEmpty, !signed.isEmpty, keys.isEmpty == (expect != "ok") else { throw TestVector.Fault("the header is not complete") }
  }
}
