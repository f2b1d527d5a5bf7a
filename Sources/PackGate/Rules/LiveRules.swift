/// Rules about the published release, by what ``LiveInspection`` found: one rule for each kind of fault.
enum LiveRules {
  static let all: [ReleaseRule] = [
    rule(.otherManifest, "PK7001", "the server sends another manifest than that of the release"),
    rule(.missing, "PK7002", "a file of the release is not at the server", phone: .notFound),
    rule(.size, "PK7003", "a file at the server has another size", phone: .sizeMismatch),
    rule(.incomplete, "PK7004", "a download does not complete"),
    rule(.content, "PK7005", "a file at the server has other bytes"),
    rule(.encoding, "PK7006", "the server compresses files", phone: .sizeMismatch),
    rule(.insecure, "PK7007", "devices do not accept the server's connection"),
    rule(.host, "PK7008", "the server redirects to a host that is not allowed", phone: .hostNotPermitted),
    rule(.redirect, "PK7009", "a redirect leads nowhere"),
    rule(.wrongRange, "PK7010", "the server sends a wrong part of a file"),
    rule(.noResumption, "PK7011", "downloads cannot continue after an interruption", .warning),
    rule(.goneEarlier, "PK7012", "a pack of an earlier release is gone", phone: .notFound),
    rule(.type, "PK7013", "a file has a type that suggests text", .warning),
    rule(.shortCaching, "PK7014", "caches keep packs only for a short time", .warning),
    rule(.longCaching, "PK7015", "caches keep the manifest for a long time", .warning),
    rule(.stale, "PK7016", "a cache sends a stale copy", .warning),
    rule(.noLength, "PK7017", "the server does not say the length of a file", .warning),
    rule(.certificate, "PK7018", "the server's certificate ends soon", .warning),
    rule(.refused, "PK7019", "the server refuses to send a file", phone: .notAllowed),
    rule(.busy, "PK7020", "the server says that it cannot send a file now"),
    rule(.clock, "PK7021", "the clock of this machine differs from the server's"),
    rule(.sharing, "PK7022", "pages of other sites cannot read a file", .warning),
    rule(.early, "PK7023", "an opener is at the server before its time"),
  ]

  private static func rule(
    _ kind: LiveFault.Kind, _ id: String, _ title: String, _ level: FindingLevel = .error, phone: BackgroundAssetsError? = nil
  ) -> ReleaseRule {
    let check = { @Sendable (live: LiveSighting) -> [Finding] in
      live.faults.filter { $0.kind == kind }.map { found in
        Finding(
          found.message, level: found.isLesser ? level == .error ? .warning : .note : nil, pack: found.pack, actual: found.actual,
          limit: found.limit)
      }
    }
    guard kind == .goneEarlier else {
      return ReleaseRule(id, title, level, .live, phone: phone) { (_: Listing, live: LiveSighting) -> [Finding] in check(live) }
    }
    return ReleaseRule(id, title, level, .live, phone: phone) {
      (_: Listing, _: RecordedReleases, live: LiveSighting) -> [Finding] in check(live)
    }
  }
}
