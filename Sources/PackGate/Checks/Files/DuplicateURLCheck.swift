import PackManifest

/// PK2013.
enum DuplicateURLCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2013", "two packs have the same URL or the same id", needs: [.manifest],
    what: "No two entries of the manifest share a URL, an id, or ids that differ only in case.",
    onPhone: "One file cannot be two packs: the app refuses one of them. Names that differ only in case are the same file on some disks.",
    remedy: "Give every pack its own id in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    var findings: [ReleaseFinding] = []
    var urls: [String: String] = [:]
    var ids: [String: String] = [:]
    for entry in release.entries {
      if let other = ids.updateValue(entry.id, forKey: entry.id.lowercased()) {
        findings.append(
          finding(
            other == entry.id ? "two packs are called '\(other)'" : "'\(other)' and '\(entry.id)' differ only in case", pack: entry.id,
            hint: "give one of them another id in packer.yml"))
      } else if let other = urls[entry.url] {
        findings.append(
          finding("it has the URL of '\(other)': \(entry.url)", pack: entry.id, hint: "packer build"))
      }
      urls[entry.url] = entry.id
    }
    return findings
  }
}
