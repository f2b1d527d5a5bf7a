import PackFormat
import PackManifest

/// PK2015.
enum RepeatedSaltCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2015", "two packs with other bytes are encrypted under the same keys and nonces", .error, .damaged, needs: [.files],
    what: "No two packs of one key have the same header unless they are the same pack: its salt makes their keys unlike.",
    onPhone: "Nothing is seen there, but whoever has both files can tell one text from the other, and forge segments.",
    remedy: "Make both packs anew with 'packer pack'; a writer that repeats salts must not be used.")

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
          finding("it has the salt of '\(other.id)', but other bytes", pack: entry.id, file: file.path, hint: release.rebuild(entry.id)))
      } else {
        first[header] = (entry.id, digest)
      }
    }
    return findings
  }
}

extension PackSighting.Start {
  /// The 32 bytes that make the keys of the pack unlike those of any other.
  fileprivate var salt: [UInt8] { Array(core.suffix(32)) }
}
