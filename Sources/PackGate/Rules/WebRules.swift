/// Rules about pages: what they refer to, and what browsers loaded of them.
enum WebRules {
  static let all: [ReleaseRule] = [
    misspelledReference, missingAtRun, foreignHost, otherRun, missingReference, foreignReference, doubtfulReference, serviceWorker,
    precompressed, encoding, problemAtRun, media, browser, staleLayout,
  ]

  static let misspelledReference = ReleaseRule(
    "PK6011", "a page names a file in the wrong case", .warning
  ) { (files: Files, payload: Payload) -> [Finding] in
    files.with(payload).flatMap { entry, file, contents in
      sentences(contents.references.misspelled, entry, file, hint: "write it as the file has it, then: \(files.rebuild(entry.id))")
    }
  }

  static let missingAtRun = ReleaseRule(
    "PK6013", "a game asks for files that its pack does not have", .warning
  ) { (listing: Listing, run: LoadRun) -> [Finding] in
    runs(run, listing).compactMap { entry, run in
      // A pack without pages was opened as a game, and nothing of it was loaded.
      guard run.requests.isEmpty || run.requests.contains(where: { $0.status < 400 }) else { return nil }
      let lines = run.missing.map { missing in missing.near.map { "'\(missing.path)', but has '\($0)'" } ?? "'\(missing.path)'" }
      guard let first = lines.first else { return nil }
      return Finding("its pack has no \(first)\(lines.andMore)", pack: entry.id, details: Array(lines.prefix(20)))
    }
  }

  static let foreignHost = ReleaseRule("PK6014", "a game asks other hosts", .warning) { (listing: Listing, run: LoadRun) -> [Finding] in
    runs(run, listing).compactMap { entry, run in
      let lines = run.foreign.map { "\($0.url) (\($0.directive))" }
      guard let first = lines.first else { return nil }
      return Finding("it asks for \(first)\(lines.andMore)", pack: entry.id, details: Array(lines.prefix(20)))
    }
  }

  static let otherRun = ReleaseRule(
    "PK6015", "a recorded run is of other content", .note
  ) { (listing: Listing, run: LoadRun, setting: Setting) -> Finding? in
    let known = Set(listing.entries.map(\.contentRoot))
    let others = run.packs.filter { !known.contains($0.contentRoot) }.map { "'\($0.id)' version \($0.version)" }
    guard let first = others.first else { return nil }
    return Finding(
      "the run is of \(first)\(others.andMore), whose content is not in this release", details: Array(others.prefix(20)),
      hint: "packer serve \(setting.directory) --record run.json")
  }

  static let missingReference = ReleaseRule(
    "PK6016", "a page refers to a file that the pack does not have"
  ) { (files: Files, payload: Payload) -> [Finding] in
    files.with(payload).flatMap { entry, file, contents in
      sentences(
        contents.references.missing, entry, file,
        hint: "correct it, add the file, or change 'exclude' in packer.yml, then: \(files.rebuild(entry.id))")
    }
  }

  static let foreignReference = ReleaseRule(
    "PK6017", "a page loads something from another host", .warning
  ) { (files: Files, payload: Payload) -> [Finding] in
    files.with(payload).flatMap { entry, file, contents in
      sentences(contents.references.foreign.map(\.sentence), entry, file)
        + sentences(contents.references.foreignGuesses, entry, file, level: .note)
    }
  }

  static let doubtfulReference = ReleaseRule(
    "PK6018", "a reference probably leads nowhere", .note
  ) { (files: Files, payload: Payload) -> [Finding] in
    files.with(payload).flatMap { entry, file, contents in
      sentences(
        contents.references.excluded, entry, file, level: .warning,
        hint: "a pack is an origin of its own: put what belongs together into one pack, or correct 'exclude' in packer.yml")
        + sentences(contents.references.doubtful, entry, file)
    }
  }

  static let serviceWorker = ReleaseRule(
    "PK6019", "a game registers a service worker", .note
  ) { (files: Files, payload: Payload, browsers: ForBrowsers?) -> [Finding] in
    files.with(payload).flatMap { entry, file, contents in
      // The player for browsers has a worker of its own there.
      sentences(contents.references.serviceWorkers, entry, file, level: browsers == nil ? nil : .warning)
    }
  }

  static let precompressed = ReleaseRule(
    "PK6020", "a build compressed files that a web view does not decompress"
  ) { (files: Files, payload: Payload) -> [Finding] in
    files.with(payload).compactMap { entry, file, contents in
      guard let first = contents.precompressed.first(where: SourceRules.needsDecoding) ?? contents.precompressed.first else { return nil }
      return Finding(
        "no web view decompresses '\(printable(first.utf8))'\(contents.precompressed.andMore)",
        // Scripts may decompress what they fetch, but not what the page loads as a script.
        level: SourceRules.needsDecoding(first) ? .error : .warning, pack: entry.id, file: file.path,
        details: contents.precompressed.prefix(20).map { printable($0.utf8) },
        hint:
          "turn the compression of the build off, because the pack compresses: in Unity 'Compression Format: Disabled'; then: \(files.rebuild(entry.id))"
      )
    }
  }

  static let encoding = ReleaseRule(
    "PK6021", "a page is in an encoding that browsers guess", .warning
  ) { (files: Files, payload: Payload) -> [Finding] in
    files.with(payload).flatMap { entry, file, contents in
      sentences(contents.references.unknownEncodings, entry, file, hint: "convert it to UTF-8, then: \(files.rebuild(entry.id))")
        + sentences(contents.references.foreignEncodings, entry, file, level: .note)
    }
  }

  static let problemAtRun = ReleaseRule(
    "PK6022", "something failed while a game was recorded", .warning
  ) { (listing: Listing, run: LoadRun) -> [Finding] in
    runs(run, listing).flatMap { entry, run in
      [false, true].compactMap { isHint -> Finding? in
        // A game may write there what it can live with.
        let lines = run.problems.filter { [LoadRun.Problem.console, LoadRun.Problem.phone].contains($0.place) == isHint }.map(\.sentence)
        guard let first = lines.first else { return nil }
        return Finding(first + lines.andMore, level: isHint ? .note : .warning, pack: entry.id, details: Array(lines.prefix(20)))
      }
    }
  }

  static let media = ReleaseRule(
    "PK6023", "a sound or a film is in a format that web views do not play", .warning
  ) { (files: Files, payload: Payload) -> [Finding] in
    files.with(payload).flatMap { entry, file, contents in
      sentences(contents.unplayable.map { "no web view plays \($0)" }, entry, file, hint: "convert it, for example to MP3, AAC or H.264")
        + sentences(contents.newerMedia.map { "older systems do not play \($0)" }, entry, file, level: .note)
    }
  }

  static let staleLayout = ReleaseRule(
    "PK6025", "an order file names files that the pack does not have", .warning
  ) { (files: Files, payload: Payload) -> [Finding] in
    files.with(payload).compactMap { entry, file, contents in
      guard let lost = contents.lostLaunch, let first = lost.first else { return nil }
      return Finding(
        "the launch in its order file has '\(first)'\(lost.andMore), which the pack does not have", pack: entry.id, file: file.path,
        details: Array(lost.prefix(20)),
        hint: "remove the order file, record some runs with 'packer serve --layout', then: \(files.rebuild(entry.id))")
    }
  }

  static let browser = ReleaseRule(
    "PK6024", "a game does not work below a path, where browsers play it"
  ) { (files: Files, payload: Payload, _: ForBrowsers) -> [Finding] in
    files.with(payload).flatMap { entry, file, contents in
      let hint = "write addresses without a slash at their beginning, then: \(files.rebuild(entry.id))"
      return sentences(contents.references.absolute, entry, file, hint: hint)
        + sentences(contents.references.absoluteGuesses, entry, file, level: .note)
    }
  }

  /// Returns the recorded runs of the packs of a release, by their content.
  private static func runs(_ run: LoadRun, _ listing: Listing) -> [(entry: ManifestPack, run: LoadRun.Pack)] {
    let entries = Dictionary(grouping: listing.entries, by: \.contentRoot)
    return run.packs.compactMap { run in
      let same = entries[run.contentRoot] ?? []
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
