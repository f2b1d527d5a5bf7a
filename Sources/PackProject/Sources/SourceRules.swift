import PackFiles
import PackFormat

/// What packer skips by itself, and what is refused.
package enum SourceRules {
  /// Why a name never belongs in a release, or nil. Such files are skipped and reported.
  package static func junk(_ name: String) -> String? {
    guard let first = name.utf8.first, [UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "T")].contains(first) else { return nil }
    return switch name {
    case ".DS_Store": "Finder metadata"
    case "__MACOSX": "archive metadata of macOS"
    case "Thumbs.db": "thumbnails of Windows"
    case ".git": "a Git repository"
    default: name.hasPrefix("._") ? "metadata of macOS" : StagedName.isTemporary(name) ? "an unfinished output of packer" : nil
    }
  }

  /// Why a file's name says that it holds a secret, or nil.
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

  /// Whether the first or the last bytes of a name are among those of the names below: most are not, and nothing is allocated for them.
  private static func mayBeSecret(_ name: String) -> Bool {
    switch (name.utf8.first ?? 0) | 0x20 {
    case UInt8(ascii: "."), UInt8(ascii: "i"): return true
    default: break
    }
    // Beyond ASCII there are letters that become those of ASCII when they are made small.
    guard let last = name.utf8.last, last < 0x80 else { return true }
    switch last | 0x20 {
    case UInt8(ascii: "2"), UInt8(ascii: "8"), UInt8(ascii: "e"), UInt8(ascii: "s"), UInt8(ascii: "x"): return true
    default: return false
    }
  }

  /// The largest file whose content is looked at, in bytes. Keys are small.
  package static let largestSecret: UInt64 = 16 << 10

  /// Why the first bytes of a file say that it is a key, or nil.
  package static func secret(content: Span<UInt8>) -> String? {
    let start = Array(copying: content.extracting(first: min(content.count, 64)))
    func begins(with text: String) -> Bool { start.starts(with: text.utf8) }
    if begins(with: "-----BEGIN ") {
      let firstLine = String(decoding: start.prefix { $0 != 10 && $0 != 13 }, as: UTF8.self)
      if firstLine.contains("PRIVATE KEY") { return "holds a private key" }
    }
    if begins(with: "pkk1-") || begins(with: "pks1-") { return "holds a key of packer" }
    if begins(with: "AGE-SECRET-KEY-1") { return "holds a private age key" }
    if begins(with: "PuTTY-User-Key-File") { return "holds a private SSH key" }
    return nil
  }
}
