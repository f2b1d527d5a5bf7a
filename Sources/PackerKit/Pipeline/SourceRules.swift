import PackFormat

/// What is left out of a pack without being asked, and what is refused.
enum SourceRules {
  /// Why a name never belongs in a release, or nil. Such files are left out and reported.
  static func junk(_ name: String) -> String? {
    switch name {
    case ".DS_Store": "Finder metadata"
    case "__MACOSX": "archive metadata of macOS"
    case "Thumbs.db": "thumbnails of Windows"
    case ".git": "a Git repository"
    default: name.hasPrefix("._") ? "metadata of macOS" : nil
    }
  }

  /// Why a file's name says that it holds a secret, or nil.
  static func secret(_ name: String) -> String? {
    let lower = name.lowercased()
    if lower == ".env" || lower.hasPrefix(".env.") { return "looks like environment secrets" }
    if ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"].contains(lower) { return "looks like a private SSH key" }
    if [".netrc", ".npmrc", ".pypirc", ".htpasswd"].contains(lower) { return "looks like stored credentials" }
    if [".p12", ".pfx", ".p8", ".jks", ".keystore"].contains(where: { lower.hasSuffix($0) }) {
      return "looks like a key store"
    }
    return nil
  }

  /// The largest file whose content is looked at, in bytes. Keys are small.
  static let largestSecret: UInt64 = 16 << 10

  /// Why the first bytes of a file say that it is a key, or nil.
  static func secret(content: Span<UInt8>) -> String? {
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
