/// A file whose content is generated from its number, on the server and for the check of the client's result.
package struct NumberedFile: Sendable {
  package let number: Int

  package init(_ number: Int) {
    self.number = number
  }

  /// The name of the file on the server, and of the pack that it stands for.
  package var name: String { "file-\(number)" }

  /// The content: from 1 to 60 000 bytes, different for each number. Every fiftieth file has 300 000 bytes or more.
  package var content: [UInt8] {
    var generator = SeededGenerator(seed: UInt64(number) + 1_000_000)
    return generator.bytes(number % 50 == 7 ? 300_000 + number * 31 : 1 + number * 7919 % 60_000)
  }

  /// The name, size and digest of the file, for a process that downloads it.
  package var listing: String {
    let content = content
    return "\(name) \(content.count) \(Self.digest(content).map { String($0) }.joined(separator: "."))"
  }

  package static func download(listed line: Substring, from url: String) -> PlannedDownload? {
    let words = line.split(separator: " ")
    guard words.count == 3, let size = UInt64(words[1]) else { return nil }
    return download(
      String(words[0]), size: size, sha256: words[2].split(separator: ".").compactMap { UInt8($0) }, from: "\(url)/\(words[0])")
  }

  package static func download(
    _ id: String, size: UInt64, sha256: [UInt8], from url: String, priority: Double = 0.5
  ) -> PlannedDownload {
    PlannedDownload(id: id, bytes: PackBytes(version: 1, size: size, sha256: sha256), url: url, priority: priority)
  }

  package static func digest(_ bytes: [UInt8]) -> [UInt8] {
    guard let digest = try? CryptoBackends.standard.makeDigest(), (try? digest.update(bytes.byteSpan)) != nil,
      let result = try? digest.finish()
    else { preconditionFailure("SHA-256 is not available") }
    return result
  }
}
