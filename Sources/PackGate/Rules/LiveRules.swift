/// Rules about the published release, by what ``LiveInspection`` found: one rule for each kind of fault.
enum LiveRules {
  static let all: [ReleaseRule] = [
    rule(
      .otherManifest, "PK7001", "the server sends another manifest than that of the release",
      what: "The manifest at the server is, byte for byte, the one of the release.",
      onPhone: "Devices get the packs of the manifest that is there: an earlier release, or nothing if it is no manifest.",
      remedy: "Publish the manifest after all other files, with 'packer publish', and have caches drop the old one."),
    rule(
      .missing, "PK7002", "a file of the release is not at the server", phone: .notFound,
      what: "The server answers 200 for the manifest, and for every pack, delta and shard of the release, after several attempts.",
      onPhone: "The pack cannot be downloaded. Without a delta, devices download the full pack; without the manifest, nothing.",
      remedy: "Upload what is missing with 'packer publish', and check what the server allows to be read."),
    rule(
      .size, "PK7003", "a file at the server has another size", phone: .sizeMismatch,
      what: "The length that the server says and the bytes that come are the size in the manifest.",
      onPhone: "The download fails, because its size is not the one declared.",
      remedy: "Upload the file again, and have caches drop it."),
    rule(
      .incomplete, "PK7004", "a download does not complete",
      what: "Every file comes whole, at the second or third attempt at the latest, and every host answers.",
      onPhone: "The download fails or stalls, again and again.",
      remedy: "Look at the server's log and limits, and at the file there, which may be truncated."),
    rule(
      .content, "PK7005", "a file at the server has other bytes",
      what: """
        The SHA-256 of every file is the one in the manifest. With --quick, parts of large files are compared with those in the \
        directory.
        """,
      onPhone: "The download succeeds, but the app refuses to install the pack, each time again.",
      remedy: "Run 'packer publish' again, which compares and uploads it, and have caches drop the other one."),
    rule(
      .encoding, "PK7006", "the server compresses files", phone: .sizeMismatch,
      what: "Packs, deltas, shards and the manifest come without Content-Encoding, although devices allow gzip.",
      onPhone: "The size is not the one declared, and an interrupted download cannot continue.",
      remedy: "Switch compression off for these files, at the server and at the CDN."),
    rule(
      .insecure, "PK7007", "devices do not accept the server's connection",
      what: "The server's certificate is valid, names the host, and leads to a known authority; the connection has TLS 1.2 or newer.",
      onPhone: "Nothing can be downloaded from the host.",
      remedy: "Renew the certificate, and send all those between it and the authority; 'openssl s_client -connect HOST:443' shows them."),
    rule(
      .host, "PK7008", "the server redirects to a host that is not allowed", phone: .hostNotPermitted,
      what: """
        Redirects lead to hosts in BADownloadDomainAllowList: of the Info.plist if it is given, otherwise as packer.yml makes \
        it, and of every released app.
        """,
      onPhone: "Before the first launch, the download fails with 202.",
      remedy: "Serve the files under their own addresses, or add the host to 'hosts' in packer.yml before the next version of the app."),
    rule(
      .redirect, "PK7009", "a redirect leads nowhere",
      what: "Redirects lead to addresses that devices download from, over https, and there are at most five.",
      onPhone: "The download fails.",
      remedy: "Serve the files under their own addresses."),
    rule(
      .wrongRange, "PK7010", "the server sends a wrong part of a file",
      what: "A request for a part of a file gets status 206, with this part and the size of the whole.",
      onPhone: "A download that continues after an interruption is refused, and starts again.",
      remedy: "Check how the server and the CDN answer range requests, as 'curl -r 0-99 -D - URL' shows it."),
    rule(
      .noResumption, "PK7011", "downloads cannot continue after an interruption", .warning,
      what: "The server answers range requests, and each answer has the same strong ETag, or the same Last-Modified.",
      onPhone: "An interrupted download starts again; a large one over a weak network may never end.",
      remedy: "Switch range requests and ETag on, with the same values at all machines that serve the files."),
    rule(
      .goneEarlier, "PK7012", "a pack of an earlier release is gone", phone: .notFound,
      what: "The packs of recorded releases whose manifests have not expired are still at the server, with their size.",
      onPhone: "A device that still has that manifest cannot download them until it gets the new one.",
      remedy: "Upload them again from 'released', and delete packs only after the manifests that name them have expired."),
    rule(
      .type, "PK7013", "a file has a type that suggests text", .warning,
      what: "The Content-Type of packs, deltas and shards is not one of texts, and that of the manifest is not one of web pages.",
      onPhone: "Networks and CDNs may compress or change the file.",
      remedy: "Serve *.pack and *.shard as application/octet-stream."),
    rule(
      .shortCaching, "PK7014", "caches keep packs only for a short time", .warning,
      what: "Caches may keep packs, deltas and shards for a day or longer. A file without a time is a note.",
      onPhone: "Downloads come from further away, and take longer.",
      remedy: "Serve them with 'Cache-Control: public, max-age=31536000, immutable': a name never gets other bytes."),
    rule(
      .longCaching, "PK7015", "caches keep the manifest for a long time", .warning,
      what: "Caches may keep the manifest for an hour at most. A manifest without a time is a note.",
      onPhone: "Devices get a new release that much later.",
      remedy: "Serve the manifest with 'Cache-Control: public, max-age=60'."),
    rule(
      .stale, "PK7016", "a cache sends a stale copy", .warning,
      what: "No answer is older (Age) than the time for which caches may keep it.",
      onPhone: "Devices get an old manifest for longer than the server says.",
      remedy: "Check the CDN's own times, and have it drop the copies."),
    rule(
      .noLength, "PK7017", "the server does not say the length of a file", .warning,
      what: "Every answer with a file has its Content-Length.",
      onPhone: "The app cannot show how far a download is.",
      remedy: "Serve the files as they are, and not through filters that may change them."),
    rule(
      .certificate, "PK7018", "the server's certificate ends soon", .warning,
      what: "The certificate of the manifest's server is valid for 14 more days. Checked if curl can show certificates.",
      onPhone: "After it has ended, nothing can be downloaded.",
      remedy: "Renew it, and check what should have renewed it."),
  ]

  private static func rule(
    _ kind: LiveFault.Kind, _ id: String, _ title: String, _ level: FindingLevel = .error, phone: BackgroundAssetsError? = nil,
    what: String, onPhone: String, remedy: String
  ) -> ReleaseRule {
    let check = { @Sendable (live: LiveSighting) -> [Finding] in
      live.faults.filter { $0.kind == kind }.map { found in
        Finding(
          found.message, level: found.isLesser ? level == .error ? .warning : .note : nil, pack: found.pack, actual: found.actual,
          limit: found.limit)
      }
    }
    guard kind == .goneEarlier else {
      return ReleaseRule(id, title, level, .live, phone: phone, what: what, onPhone: onPhone, remedy: remedy) {
        (_: Listing, live: LiveSighting) -> [Finding] in check(live)
      }
    }
    return ReleaseRule(id, title, level, .live, phone: phone, what: what, onPhone: onPhone, remedy: remedy) {
      (_: Listing, _: RecordedReleases, live: LiveSighting) -> [Finding] in check(live)
    }
  }
}
