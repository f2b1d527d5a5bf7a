import Foundation

/// A file of lines that Scripts/make-vectors.py writes: the expected result, three values in hex, and a description of the case.
struct CaseFile: Sendable {
  struct Case: Sendable {
    let holds: Bool
    let key, message: [UInt8]
    /// The signature or the authentication code.
    let proof: [UInt8]
    let comment: String
  }

  let cases: [Case]

  /// The edge cases of FORMAT.md §9.2.
  static let edges = CaseFile(named: "manifest/ed25519.txt")
  /// CCTV's edge cases of Ed25519, rebuilt.
  static let cctv = CaseFile(named: "others/cctv-ed25519.txt")
  /// Wycheproof's HMAC-SHA256, rebuilt.
  static let codes = CaseFile(named: "others/wycheproof-hmac-sha256.txt")

  /// Reads a file below Tests/Vectors, or below the folder in `PACKER_VECTORS`. A missing file has no cases, and every test requires some.
  private init(named name: String) {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let folder = ProcessInfo.processInfo.environment["PACKER_VECTORS"] ?? tests.appendingPathComponent("Vectors").path
    let text = (try? String(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(name), encoding: .utf8)) ?? ""
    cases = text.split(separator: "\n").map { line in
      let parts = line.split(separator: " ", maxSplits: 4).map(String.init)
      func bytes(_ text: String) -> [UInt8] { text == "-" ? [] : hex(text) }
      return Case(
        holds: parts[0] == "holds", key: bytes(parts[1]), message: bytes(parts[2]), proof: bytes(parts[3]), comment: parts[4])
    }
  }
}
