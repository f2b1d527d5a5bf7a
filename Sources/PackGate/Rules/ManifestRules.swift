/// Rules about the manifest: its signature, its keys documents, its times and its size.
enum ManifestRules {
  static let all: [ReleaseRule] = [
    unreadableManifest, untrustedSignature, noTrustedKey, expiredManifest, expiringManifest, manifestTime, keysChain, keysExpiry,
    manifestSize,
  ]

  static let unreadableManifest = ReleaseRule(
    "PK5001", "the manifest cannot be read", .error, .damaged
  ) { (setting: Setting, document: ManifestSighting) -> Finding? in
    guard document.manifest == nil, let failure = document.failure else { return nil }
    return Finding(failure.message, file: document.path, details: failure.details, hint: setting.wording(failure) ?? "packer build")
  }

  static let untrustedSignature = ReleaseRule(
    "PK5002", "no trusted key signed the manifest", .error, .signature
  ) { (setting: Setting, document: ManifestSighting) -> Finding? in
    guard let failure = document.signatureFailure else { return nil }
    return Finding(
      failure.message, file: document.path, details: failure.details,
      hint: setting.wording(failure) ?? "packer build --sign-key REF, with a key that the app trusts")
  }

  static let noTrustedKey = ReleaseRule(
    "PK5003", "there is no trusted key to check the signature with", .error, .signature
  ) { (_: Listing, setting: Setting, document: ManifestSighting) -> Finding? in
    guard document.trusted.isEmpty else { return nil }
    return Finding(
      "no public key is trusted, so the signature cannot be checked (signed by \(document.signers))", file: document.path,
      hint: "packer verify \(ShellWord.path(setting.directory)) --trust pkp1-…, as 'packer key public' prints it")
  }

  static let expiredManifest = ReleaseRule("PK5004", "the manifest has expired") { (listing: Listing, setting: Setting) -> Finding? in
    let manifest = listing.content
    guard manifest.expires <= setting.now else { return nil }
    return Finding(
      "the manifest expired at \(manifest.expires); now it is \(setting.now)", file: listing.path, hint: "packer build --renew")
  }

  static let expiringManifest = ReleaseRule(
    "PK5005", "the manifest expires soon", .warning
  ) { (listing: Listing, setting: Setting) -> Finding? in
    let manifest = listing.content
    guard manifest.expires > setting.now else { return nil }
    let left = manifest.expires.secondsSince1970 - setting.now.secondsSince1970
    let validity = manifest.issued.map { manifest.expires.secondsSince1970 - $0.secondsSince1970 } ?? .max
    guard left < min(daysLeft * 86_400, validity / 2) else { return nil }
    return Finding(
      "the manifest expires at \(manifest.expires), in \(left / 86_400) \(left / 86_400 == 1 ? "day" : "days")",
      file: listing.path, actual: UInt64(left), limit: UInt64(daysLeft * 86_400), hint: "packer build --renew")
  }

  static let manifestTime = ReleaseRule(
    "PK5006", "the dates of the manifest are impossible", .warning
  ) { (listing: Listing, setting: Setting, releases: RecordedReleases?, published: PublishedManifest?) -> Finding? in
    let manifest = listing.content
    guard let issued = manifest.issued else { return nil }
    if manifest.expires <= issued {
      return Finding(
        "the manifest expires at \(manifest.expires), not after it was issued at \(issued)", file: listing.path,
        hint: "packer build --renew")
    }
    let ahead = issued.secondsSince1970 - setting.now.secondsSince1970
    guard ahead <= tolerance else {
      return Finding(
        "the manifest was issued at \(issued), but now it is \(setting.now)", level: ahead > BuildTime.tolerance ? .error : nil,
        file: listing.path, hint: "set the clock, then: packer build --renew")
    }
    let other = published?.verified.manifest
    let earlier = [
      releases?.newest.map { ($0.manifestVersion, $0.issued) }, other.flatMap { other in other.issued.map { (other.version, $0) } },
    ]
    let replaced = earlier.compactMap(\.self).filter { $0.0 < manifest.version }.max { $0.1 < $1.1 }
    guard let (version, last) = replaced, last.secondsSince1970 - issued.secondsSince1970 > BuildTime.tolerance else { return nil }
    return Finding(
      "the manifest was issued at \(issued), and manifest \(version) before it at \(last)", level: .error, file: listing.path,
      hint:
        "set the clock, then: SOURCE_DATE_EPOCH=$(date +%s) packer build --renew; if the clock was wrong for \(version), accept this once")
  }

  static let keysChain = ReleaseRule(
    "PK5016", "the keys documents in the manifest do not lead an app to the newest one", .error, .signature
  ) { (listing: Listing, _: PackerConfiguration, releases: RecordedReleases?, setting: Setting, keys: KeysSighting?) -> [Finding] in
    guard let keys else { return [] }
    guard let file = keys.file, let newest = file.newest else {
      let failure = keys.failure.map { "\($0.message)" } ?? "the keys documents cannot be read"
      return [Finding(failure, file: keys.path, hint: keys.failure.flatMap { setting.wording($0) })]
    }
    let documents = listing.keysDocuments
    var findings: [Finding] = []
    if documents.contains(where: { document in !file.documents.contains { $0.bytes == document } }) {
      findings.append(
        Finding(
          "the manifest has a keys document that is not in \(keys.path)", file: listing.path, hint: "packer build"))
    }
    let apps = (releases?.apps ?? []).filter { $0.keysVersion != nil }
    let starts = apps.map { (app: $0.title, version: $0.keysVersion ?? 0) }
    for (app, version) in starts.isEmpty ? [("that embeds the oldest", file.documents[0].content.version)] : starts {
      guard let first = file.document(version), let trusted = try? TrustedKeys(first) else {
        findings.append(
          Finding("app \(app) embeds keys document \(version), which is not in \(keys.path)", app: app, file: keys.path, hint: nil))
        continue
      }
      let progress = trusted.following(documents)
      guard progress.failure != nil || progress.keys.newest != newest else { continue }
      let reached = progress.keys.newest?.content.version ?? version
      findings.append(
        Finding(
          "app \(app), with keys document \(version), gets to \(reached) and not to \(newest.content.version)"
            + (progress.failure.map { ": \($0.message)" } ?? ""),
          app: apps.isEmpty ? nil : app, file: listing.path, hint: "packer build"))
    }
    return findings
  }

  static let keysExpiry = ReleaseRule(
    "PK5017", "the newest keys document has expired, or will soon", .warning
  ) { (_: PackerConfiguration, setting: Setting, keys: KeysSighting?) -> Finding? in
    guard let keys, let content = keys.file?.newest?.content else { return nil }
    let left = content.expires.secondsSince1970 - setting.now.secondsSince1970
    guard left < keysDaysLeft * 86_400 else { return nil }
    let hint = "packer key trust rotate \(ShellWord.path(keys.path))"
    guard left > 0 else {
      return Finding(
        "keys document \(content.version) expired at \(content.expires); now it is \(setting.now)", level: .error, file: keys.path,
        hint: hint)
    }
    return Finding(
      "keys document \(content.version) expires at \(content.expires), in \(left / 86_400) \(left / 86_400 == 1 ? "day" : "days")",
      file: keys.path, actual: UInt64(left), limit: UInt64(keysDaysLeft * 86_400), hint: hint)
  }

  static let manifestSize = ReleaseRule("PK6001", "the manifest is large", .warning) { (listing: Listing) -> Finding? in
    let (size, largest) = (listing.size, UInt64(Manifest.largestSize))
    let isNear = size >= largest / 5 * 4
    guard isNear || size >= 256 << 10 else { return nil }
    let sizes = SizeText.pair(size, largest)
    return Finding(
      "\(listing.path) is \(sizes.0), and clients read at most \(sizes.1)", level: isNear ? .warning : .note,
      file: listing.path, actual: size, limit: largest, hint: "merge small packs, or shorten tags and descriptions")
  }

  /// The days before the end of a manifest from which it is a finding.
  private static let daysLeft: Int64 = 30

  /// The allowed difference between clocks, in seconds.
  private static let tolerance: Int64 = 300

  /// The same for a keys document.
  private static let keysDaysLeft: Int64 = 60
}
