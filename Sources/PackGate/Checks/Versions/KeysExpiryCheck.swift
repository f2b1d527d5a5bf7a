import PackBuild
import PackManifest
import PackProject
import PackTrust

/// PK5017.
enum KeysExpiryCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5017", "the newest keys document has expired, or will soon", .warning, needs: [.configuration],
    what: "At least 60 days are left until 'expires' of the newest document in 'keysFile'.",
    onPhone: "After that, nothing new is installed; installed packs stay.",
    remedy: "Make the next document with 'packer trust rotate', and have it signed: Documentation/TRUST.md.")

  static let days: Int64 = 60

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let keys = release.keys, let content = keys.file?.newest?.content else { return [] }
    let left = content.expires.secondsSince1970 - release.now.secondsSince1970
    guard left < days * 86_400 else { return [] }
    let hint = "packer trust rotate \(ShellWord.path(keys.path))"
    guard left > 0 else {
      return [
        finding(
          "keys document \(content.version) expired at \(content.expires); now it is \(release.now)", level: .error, file: keys.path,
          hint: hint)
      ]
    }
    return [
      finding(
        "keys document \(content.version) expires at \(content.expires), in \(left / 86_400) \(left / 86_400 == 1 ? "day" : "days")",
        file: keys.path, actual: UInt64(left), limit: UInt64(days * 86_400), hint: hint)
    ]
  }
}
