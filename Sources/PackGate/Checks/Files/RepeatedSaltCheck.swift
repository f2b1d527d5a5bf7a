import PackFormat
import PackManifest

/// PK2015.
enum RepeatedSaltCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2015", "two different packs are encrypted with the same keys and nonces", .error, .damaged, needs: [.files],
    what: "No two different packs of one key, deltas included, have the same salt, which makes their derived keys different.",
    onPhone: "No visible effect, but an attacker with both files can compute the difference of their contents and forge segments.",
    remedy: "Make both packs again with 'packer pack', and do not use a writer that repeats salts.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    struct Header: Hashable {
      let keyID: String
      let salt: [UInt8]
    }
    var first: [Header: (id: String, digest: [UInt8])] = [:]
    var findings: [ReleaseFinding] = []
    let packs = release.pairs.map { entry, file in (entry.id, file.path, file.start, file.sha256, false) }
    let deltas = release.deltas.map { ($0.id, $0.path, $0.start, $0.sha256, true) }
    for (id, path, start, digest, isDelta) in packs + deltas {
      guard let start, let digest else { continue }
      let header = Header(keyID: start.keyID, salt: start.salt)
      if let other = first[header] {
        guard other.digest != digest else { continue }
        findings.append(
          finding(
            "it has the same salt as '\(other.id)', but different bytes", pack: id, file: path,
            hint: isDelta ? "packer build" : release.rebuild(id)))
      } else {
        first[header] = (id, digest)
      }
    }
    return findings
  }
}

extension PackSighting.Start {
  /// The salt of the pack: 32 bytes that make its derived keys different from those of any other content.
  fileprivate var salt: [UInt8] { Array(core.suffix(32)) }
}
