/// The rules for files that packer skips or refuses.
package enum SourceRules {
  /// Returns why files of this name never belong in a release, or nil. Such files are skipped and reported.
  package static func junk(_ name: String) -> String? {
    guard let first = name.utf8.first, [UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "T")].contains(first) else { return nil }
    return switch name {
    case ".DS_Store": "Finder metadata"
    case "__MACOSX": "macOS archive metadata"
    case "Thumbs.db": "Windows thumbnails"
    case ".git": "a Git repository"
    default: name.hasPrefix("._") ? "macOS metadata" : StagedName.isTemporary(name) ? "unfinished packer output" : nil
    }
  }

  /// Returns why a file's name suggests that it contains a secret, or nil.
  package static func secret(_ name: String) -> String? {
    guard mayBeSecret(name) else { return nil }
    let lower = name.lowercased()
    if lower == ".env" || lower.hasPrefix(".env.") { return "looks like environment secrets" }
    if ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"].contains(lower) { return "looks like a private SSH key" }
    if [".netrc", ".npmrc", ".pypirc", ".htpasswd"].contains(lower) { return "looks like stored credentials" }
    if [".p12", ".pfx", ".p8", ".jks", ".keystore"].contains(where: { lower.hasSuffix($0) }) {
      return "looks like a key store"
    }
    return nil
  }

  /// Whether the first or the last byte of a name occurs in the names of secrets. This excludes most names without an allocation.
  private static func mayBeSecret(_ name: String) -> Bool {
    switch (name.utf8.first ?? 0) | 0x20 {
    case UInt8(ascii: "."), UInt8(ascii: "i"): return true
    default: break
    }
    // Some letters outside ASCII become ASCII letters in lower case.
    guard let last = name.utf8.last, last < 0x80 else { return true }
    switch last | 0x20 {
    case UInt8(ascii: "2"), UInt8(ascii: "8"), UInt8(ascii: "e"), UInt8(ascii: "s"), UInt8(ascii: "x"): return true
    default: return false
    }
  }

  /// Returns the path without its last ending, if a build compressed the file so that a server has to say so, as Unity does: its loader expects the
  /// browser to decompress `.js.br`, `.wasm.gz` and the like, and no web view does. Files of other kinds are decompressed by the game.
  package static func precompressed(_ path: String) -> String? {
    // Excludes most paths without an allocation.
    guard let last = path.utf8.last, [UInt8(ascii: "r"), UInt8(ascii: "z")].contains(last | 0x20) else { return nil }
    let lower = path.lowercased()
    if lower.hasSuffix(".svgz") { return String(path.dropLast()) }
    guard lower.hasSuffix(".br") || lower.hasSuffix(".gz") else { return nil }
    let ends = [".js", ".wasm", ".data", ".mem", ".symbols.json"]
    return ends.contains { lower.dropLast(3).hasSuffix($0) } ? String(path.dropLast(3)) : nil
  }

  /// Whether a browser itself has to decompress a file with that path: no script can do it in its place.
  package static func needsDecoding(_ path: String) -> Bool {
    guard let plain = precompressed(path)?.lowercased() else { return false }
    return plain.hasSuffix(".js") || plain.hasSuffix(".svg")
  }

  /// The sizes in bytes that a pointer of Git LFS can have.
  package static let pointerSizes: ClosedRange<UInt64> = 100...1024

  /// Whether the first bytes of a file are those of a pointer of Git LFS, which stands for a file that was not fetched
  /// (git-lfs, docs/spec.md).
  package static func isPointer(_ start: Span<UInt8>) -> Bool {
    let start = Array(copying: start.extracting(first: min(start.count, 64)))
    // The second and third are those of its first versions, which it still reads.
    return ["version https://git-lfs.github.com/spec/", "version https://hawser.github.com/spec/", "version http://git-media.io/v/"]
      .contains { start.starts(with: $0.utf8) }
  }

  /// The size in bytes of the largest file whose content is checked. Keys are small.
  package static let largestSecret: UInt64 = 16 << 10

  /// Returns why the first bytes of a file show that it is a key, or nil.
  package static func secret(content: Span<UInt8>) -> String? {
    // Readers of key texts ignore white space around them.
    var first = 0
    while first < min(content.count, 64), content[first] <= 0x20 { first += 1 }
    // No allocation for most files.
    guard first < content.count else { return nil }
    if first == 0, content[0] == KeyContainer.sequence, let reason = KeyContainer.reason(content) { return reason }
    switch content[first] {
    case UInt8(ascii: "-"), UInt8(ascii: "p"), UInt8(ascii: "A"), UInt8(ascii: "P"): break
    default: return nil
    }
    let start = Array(copying: content.extracting(first..<min(content.count, first + 64)))
    func begins(with text: String) -> Bool { start.starts(with: text.utf8) }
    if begins(with: "-----BEGIN ") {
      let firstLine = String(decoding: start.prefix { $0 != 10 && $0 != 13 }, as: UTF8.self)
      if firstLine.contains("PRIVATE KEY") { return "contains a private key" }
    }
    if begins(with: "pkk1-") || begins(with: "pks1-") || begins(with: "pkt1-") || begins(with: "pkx1-") { return "contains a packer key" }
    if begins(with: "AGE-SECRET-KEY-1") { return "contains a private age key" }
    if begins(with: "PuTTY-User-Key-File") { return "contains a private SSH key" }
    return nil
  }
}
