import Foundation

/// One pack vector of Tests/Vectors (FORMAT.md §10.1).
package struct TestVector: Sendable {
  /// An entry that a vector lists for an `ok` pack.
  package struct Record: Hashable, Sendable {
    /// The path, with a final `/` for a directory.
    package let path: String
    /// The digest in hexadecimal digits, or nil for a directory.
    package var sha256: String?

    package init(path: String, sha256: String? = nil) {
      self.path = path
      self.sha256 = sha256
    }
  }

  /// A key that a vector names.
  package struct Secret: Hashable, Sendable {
    package var bytes: [UInt8] = []
    package var kind = PackKey.Kind.application

    package func packKey() throws(PackError) -> PackKey { try PackKey(bytes: bytes, kind: kind) }
  }

  package private(set) var expect = ""
  /// The expected result of a client: the same as ``expect`` unless the vector names another one.
  package var client: String { clientLine ?? expect }
  package private(set) var key = Secret()
  /// The root key from which ``key`` is derived, or empty if the pack has no key of its own.
  package private(set) var root: [UInt8] = []
  package private(set) var records: [Record] = []
  /// The names of the files that are the bases of a delta, in order.
  package private(set) var bases: [String] = []
  /// The bytes of the pack.
  package let pack: [UInt8]

  private var clientLine: String?

  /// The keys with which a reader must give the expected result.
  package var keys: [Secret] { root.isEmpty ? [key] : [key, Secret(bytes: root)] }

  /// The folder of the tests.
  package static let testsFolder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The folder of the vectors: Tests/Vectors, or the folder that `PACKER_VECTORS` names.
  package static let folder: URL = {
    guard let path = ProcessInfo.processInfo.environment["PACKER_VECTORS"] else { return testsFolder.appendingPathComponent("Vectors") }
    return URL(fileURLWithPath: path)
  }()

  /// The paths of all vectors, relative to the folder.
  package static let all: [String] = {
    let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix(".vector") }.sorted()
  }()

  /// The paths of all vectors of deltas, relative to the folder.
  package static let deltas: [String] = {
    let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix(".delta-vector") }.sorted()
  }()

  /// The error that a file is not a vector.
  package struct Fault: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
      self.description = description
    }
  }

  package init(named name: String) throws {
    let file = Self.folder.appendingPathComponent(name)
    try self.init(parsing: [UInt8](Data(contentsOf: file)))
  }

  /// Reads header lines, an empty line, and the pack.
  package init(parsing bytes: [UInt8]) throws {
    var rest = bytes[...]
    var lines: [String] = []
    while true {
      guard let end = rest.firstIndex(of: UInt8(ascii: "\n")),
        let line = String(validating: rest[..<end], as: UTF8.self)
      else {
        throw Fault("the header has no end")
      }
      rest = rest[(end + 1)...]
      if line.isEmpty { break }
      lines.append(line)
    }
    pack = Array(rest)
    var afterFile = false
    for (number, line) in lines.enumerated() {
      guard let colon = line.range(of: ": ") else { throw Fault("'\(line)' is not a header line") }
      let name = line[..<colon.lowerBound]
      let value = String(line[colon.upperBound...])
      guard name == "sha256" || !afterFile else { throw Fault("a file has no digest before '\(line)'") }
      switch name {
      case "expect" where number == 0: expect = value
      case "client" where clientLine == nil: clientLine = value
      case "key" where key.bytes.isEmpty: key = Secret(bytes: try Self.bytes(hex: value))
      case "recipient" where key.bytes.isEmpty: key = Secret(bytes: try Self.bytes(hex: value), kind: .recipient)
      case "root" where root.isEmpty && !key.bytes.isEmpty: root = try Self.bytes(hex: value)
      case "comment": break
      case "base": bases.append(value)
      case "path" where expect == "ok":
        records.append(Record(path: value))
        afterFile = !value.hasSuffix("/")
      case "sha256" where afterFile:
        records[records.count - 1].sha256 = value
        afterFile = false
      default: throw Fault("'\(line)' is not allowed here")
      }
    }
    guard !expect.isEmpty, key.bytes.count == 32, [0, 32].contains(root.count), !afterFile else {
      throw Fault("the header is not complete")
    }
  }

  static func bytes(hex: String) throws -> [UInt8] {
    let digits = try hex.map { digit in
      guard let value = digit.hexDigitValue else { throw Fault("'\(hex)' is not hex") }
      return UInt8(value)
    }
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}
