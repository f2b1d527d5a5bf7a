/// Rules about pages: what they refer to, and what browsers loaded of them.
enum WebRules {
  static let all: [ReleaseRule] = [
    misspelledReference, missingAtRun, foreignHost, otherRun, missingReference, foreignReference, doubtfulReference, serviceWorker,
  ]

  static let misspelledReference = ReleaseRule(
    "PK6011", "a page names a file in the wrong case", .warning,
    what: """
      What pages and style sheets of a pack name in src, href, poster and url() is not there in another case only. Names that fit no file at all are \
      not reported, because a script may answer them.
      """,
    onPhone: "The file is not found, though Windows and macOS find it.",
    remedy: "Write the name as the file has it."
  ) { (files: Files, payload: Payload) -> [Finding] in
    files.with(payload).flatMap { entry, file, contents in
      sentences(contents.misspelled, entry, file, hint: "write it as the file has it, then: \(files.rebuild(entry.id))")
    }
  }

  static let missingAtRun = ReleaseRule(
    "PK6013", "a game asks for files that its pack does not have", .warning,
    what: "No game asked for a path that is not in its pack, while 'packer serve --record' recorded it.",
    onPhone: "The game gets status 404 for it, as it did in the recorded run.",
    remedy:
      "Correct the path in the game, or add the file. If the game expects that it is missing, accept the finding with a reason in packer.yml."
  ) { (listing: Listing, run: LoadRun) -> [Finding] in
    runs(run, listing).compactMap { entry, run in
      // A pack without pages was opened as a game, and nothing of it was loaded.
      guard run.requests.isEmpty || run.requests.contains(where: { $0.status < 400 }) else { return nil }
      let lines = run.missing.map { missing in missing.near.map { "'\(missing.path)', but has '\($0)'" } ?? "'\(missing.path)'" }
      guard let first = lines.first else { return nil }
      return Finding("its pack has no \(first)\(lines.andMore)", pack: entry.id, details: Array(lines.prefix(20)))
    }
  }

  static let foreignHost = ReleaseRule(
    "PK6014", "a game asks other hosts", .warning,
    what: """
      No page loaded anything from another host or sent anything there, while 'packer serve --record' recorded it. Links to other hosts and frames in \
      a sandbox are not noticed.
      """,
    onPhone: """
      Without a network, the request fails, and the game with it if it waits for the reply. With one, the other host learns the address of the player, \
      which belongs in the privacy details of the app.
      """,
    remedy: "Put what it loads into the pack. If the game works without it, accept the finding with a reason in packer.yml."
  ) { (listing: Listing, run: LoadRun) -> [Finding] in
    runs(run, listing).compactMap { entry, run in
      let lines = run.foreign.map { "\($0.url) (\($0.directive))" }
      guard let first = lines.first else { return nil }
      return Finding("it asks for \(first)\(lines.andMore)", pack: entry.id, details: Array(lines.prefix(20)))
    }
  }

  static let otherRun = ReleaseRule(
    "PK6015", "a recorded run is of other content", .note,
    what: "The recorded run is of the packs of this release, so that PK6013 and PK6014 are about them.",
    onPhone: "Nothing: the run says nothing about this release.",
    remedy: "Record the run again with 'packer serve --record'."
  ) { (listing: Listing, run: LoadRun, setting: Setting) -> Finding? in
    let known = Set(listing.entries.map(\.contentRoot))
    let others = run.packs.filter { !known.contains($0.contentRoot) }.map { "'\($0.id)' version \($0.version)" }
    guard let first = others.first else { return nil }
    return Finding(
      "the run is of \(first)\(others.andMore), whose content is not in this release", details: Array(others.prefix(20)),
      hint: "packer serve \(setting.directory) --record run.json")
  }

  static let missingReference = ReleaseRule(
    "PK6016", "a page refers to a file that the pack does not have",
    what: """
      The pack has what index.html always loads, and what that loads in turn: scripts, modules, style sheets, pictures, sounds and frames. Upper and \
      lower case count, no reference is to a file on a developer's computer, and an import map has each bare import. Files of more than 8 MiB are \
      not read.
      """,
    onPhone: "The file is not found, though a developer's computer may find it.",
    remedy:
      "Correct the reference, or add the file. If the game expects that it is missing, accept the finding with a reason in packer.yml."
  ) { (files: Files, payload: Payload) -> [Finding] in
    files.with(payload).flatMap { entry, file, contents in
      sentences(contents.references.missing, entry, file, hint: "correct it, or add the file, then: \(files.rebuild(entry.id))")
    }
  }

  static let foreignReference = ReleaseRule(
    "PK6017", "a page loads something from another host", .warning,
    what: """
      What index.html always loads is on no other host. What it may load, such as a font of a style sheet, is a note; links do not count. Files of \
      more than 8 MiB are not read.
      """,
    onPhone: """
      Without a network it is missing. With one, the other host learns the address of the player, which belongs in the privacy details of the app.
      """,
    remedy: "Put what it loads into the pack. If the game works without it, accept the finding with a reason in packer.yml."
  ) { (files: Files, payload: Payload) -> [Finding] in
    files.with(payload).flatMap { entry, file, contents in
      sentences(contents.references.foreign, entry, file) + sentences(contents.references.foreignGuesses, entry, file, level: .note)
    }
  }

  static let doubtfulReference = ReleaseRule(
    "PK6018", "a reference probably leads nowhere", .note,
    what: """
      What pages, style sheets and scripts may load is in the pack: pictures of style rules, icons, links, what scripts fetch with a literal address, \
      and all references of pages that index.html does not show. Files of more than 8 MiB are not read.
      """,
    onPhone: "If it is loaded, it is not found.",
    remedy: "Correct the reference, add the file, or remove what is not used."
  ) { (files: Files, payload: Payload) -> [Finding] in
    files.with(payload).flatMap { entry, file, contents in sentences(contents.references.doubtful, entry, file) }
  }

  static let serviceWorker = ReleaseRule(
    "PK6019", "a game registers a service worker", .note,
    what: "No page or script of the pack calls navigator.serviceWorker.register. Files of more than 8 MiB are not read.",
    onPhone: """
      Nothing is registered, because service workers need http or https, and pages of packs have a scheme of their own. Where \
      navigator.serviceWorker is missing, code that does not look first fails.
      """,
    remedy: """
      Ask 'serviceWorker' in navigator first, and do without: the files are on the device, updates come with the pack, and isIsolated of the responder \
      sets the headers that some workers add for threads.
      """
  ) { (files: Files, payload: Payload) -> [Finding] in
    files.with(payload).flatMap { entry, file, contents in sentences(contents.references.serviceWorkers, entry, file) }
  }

  /// Returns the recorded runs of the packs of a release, by their content.
  private static func runs(_ run: LoadRun, _ listing: Listing) -> [(entry: ManifestPack, run: LoadRun.Pack)] {
    run.packs.compactMap { run in
      let same = listing.entries.filter { $0.contentRoot == run.contentRoot }
      return (same.first { $0.id == run.id } ?? same.first).map { ($0, run) }
    }
  }

  /// Returns one finding for all sentences about a pack; none without sentences.
  private static func sentences(
    _ sentences: [String], _ entry: ManifestPack, _ file: PackSighting, level: FindingLevel? = nil, hint: String? = nil
  ) -> [Finding] {
    guard let first = sentences.first else { return [] }
    return [
      Finding(first + sentences.andMore, level: level, pack: entry.id, file: file.path, details: Array(sentences.prefix(20)), hint: hint)
    ]
  }
}
