import PackFormat
import PackManifest

/// PK2015.
enum RepeatedSaltCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2015", "two different packs are encrypted with the same keys and nonces", .error, .damaged, needs: [.files],
    what: "No two different packs of one key have the same salt, which makes their derived keys different.",
    onPhone: "No visible effect, but an attacker with both files can compute the difference of their contents and forge segments.",
    remedy: "Make both packs again with 'packer pack', and do not use a writer that repeats salts.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    struct Header: Hashable {
      let keyID: String
      let salt: [UInt8]
    }
    var first: [Header: (id: String, digest: [UInt8])] = [:]
    var findings: [ReleaseFinding] = []
    for (entry, file) in release.pairs {
      guard let start = file.start, let digest = file.sha256 else { continue }
      let header = Header(keyID: start.keyID, salt: start.salt)
      if let other = first[header] {
        guard other.digest != digest else { continue }
        findings.append(
          finding(
            "it has the same salt as '\(other.id)', but different bytes", pack: entry.id, file: file.path,
            hint: release.rebuild(entry.id)))
      } else {
        first[header] = (entry.id, digest)
      }
    }
    return findings
  }
}

extension PackSighting.Start {
  /// The salt of the pack: 32 bytes that make its derived keys different from those of any other content.
  fileprivate var salt: [UInt8] { Array(core.suffix(32)) }
}
