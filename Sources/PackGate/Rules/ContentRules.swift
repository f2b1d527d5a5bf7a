/// Rules about what is in the packs.
enum ContentRules {
  static let all: [ReleaseRule] = [
    installSize, sourceDifference, unportablePath, junk, secret, plaintext, sharedContent, unintendedContent,
  ]

  static let installSize = ReleaseRule(
    "PK2010", "a manifest entry has the wrong size on the device"
  ) { (files: Files, payload: Payload) -> [Finding] in
    files.with(payload).compactMap { entry, file, contents in
      guard let size = contents.installSize, size != entry.installSize else { return nil }
      let sizes = SizeText.pair(size, entry.installSize)
      return Finding(
        "the tree takes \(sizes.0) on a device, but the manifest says \(sizes.1)", pack: entry.id, file: file.path,
        actual: size, limit: entry.installSize, hint: files.rebuild(entry.id))
    }
  }

  static let sourceDifference = ReleaseRule(
    "PK2011", "a pack differs from its source directory"
  ) { (files: Files, payload: Payload, configuration: PackerConfiguration, _: Sources) -> [Finding] in
    let packs = configuration.packsByID
    return files.with(payload).compactMap { entry, file, contents in
      guard let differences = contents.differences, let first = differences.first else { return nil }
      let source = packs[entry.id]
      return Finding(
        "'\(first.path)' \(first.message)\(differences.count > 1 ? "; \(differences.count) differences from \(source?.rootInProject ?? "its root") in all" : "")",
        pack: entry.id, file: configuration.path, line: source?.position.line,
        details: differences.prefix(20).map { "\($0.kind.rawValue): \($0.path) \($0.message)" }, hint: files.rebuild(entry.id))
    }
  }

  static let unportablePath = ReleaseRule(
    "PK2012", "a pack has paths that some platforms cannot store"
  ) { (files: Files, payload: Payload, configuration: PackerConfiguration?) -> [Finding] in
    let packs = configuration?.packsByID ?? [:]
    return files.with(payload).compactMap { entry, file, contents in
      guard let first = contents.unportable.first, packs[entry.id]?.settings.allowsUnportablePaths != true else { return nil }
      let more = contents.unportable.count - 1
      return Finding(
        first + (more > 0 ? ", and \(more) more" : ""), pack: entry.id, file: file.path,
        details: Array(contents.unportable.prefix(20)), hint: "rename them, or set allowUnportablePaths for '\(entry.id)' in packer.yml")
    }
  }

  static let junk = ReleaseRule(
    "PK6003", "a pack holds files that do not belong in a release"
  ) { (files: Files, payload: Payload) -> [Finding] in
    files.with(payload).flatMap { entry, file, contents in
      [(contents.junk, FindingLevel.error, nil), (contents.unneeded, .warning, "exclude them in packer.yml, or accept this")]
        .compactMap { paths, level, hint in
          guard let first = paths.first else { return nil }
          return Finding(
            "it holds \(first)\(paths.andMore)", level: level, pack: entry.id, file: file.path,
            details: Array(paths.prefix(20)), hint: hint ?? files.rebuild(entry.id))
        }
    }
  }

  static let secret = ReleaseRule(
    "PK6004", "a pack holds what looks like a secret"
  ) { (files: Files, payload: Payload, configuration: PackerConfiguration?) -> [Finding] in
    let packs = configuration?.packsByID ?? [:]
    return files.with(payload).compactMap { entry, file, contents in
      let configured = packs[entry.id]
      let allowed = configured?.settings.allowedSecrets ?? []
      // 'allowSecrets: true' is for certificates of tests and the like. With a key of packer in a pack, everybody can open or sign all of them.
      let isAllowed = configured?.settings.allowsSecrets == true
      let secrets = contents.secrets.filter { isAllowed ? SecretRule.own.contains($0.rule) : !allowed.allow($0.path, rule: $0.rule) }.map {
        "'\(printable($0.path.utf8))', which \($0.reason)"
      }
      guard let first = secrets.first else { return nil }
      return Finding(
        "it holds \(first)\(secrets.andMore)", pack: entry.id, file: file.path, details: Array(secrets.prefix(20)),
        hint: "exclude it in packer.yml, change the secret, then: \(files.rebuild(entry.id))")
    }
  }

  static let plaintext = ReleaseRule(
    "PK6005", "part of a pack can be read without its key"
  ) { (files: Files, payload: Payload) -> [Finding] in
    files.with(payload).compactMap { entry, file, contents in
      guard let first = contents.visible.first else { return nil }
      return Finding(
        "\(file.path) contains in plaintext: \(first)", pack: entry.id, file: file.path, details: Array(contents.visible.dropFirst()),
        hint: files.rebuild(entry.id))
    }
  }

  static let sharedContent = ReleaseRule(
    "PK6006", "the same files are in several packs", .warning
  ) { (files: Files, payload: Payload, document: ManifestSighting) -> [Finding] in
    struct Group {
      var files: UInt64 = 0
      var wasted: UInt64 = 0
    }
    var groups: [[String]: Group] = [:]
    var largest: SharedContent?
    let bases = Dictionary(files.entries.map { ($0.id, $0.basePack) }) { first, _ in first }
    for content in payload.shared {
      // A pack is a delta over its base, if there is one.
      let packs = Set(content.packs)
      let covered = content.packs.count { id in (bases[id] ?? nil).map(packs.contains) ?? false }
      let copies = content.packs.count - covered
      guard copies > 1 else { continue }
      if largest.map({ ($0.size, content.path) < (content.size, $0.path) }) ?? true { largest = content }
      var group = groups[content.packs, default: Group()]
      group.files += 1
      group.wasted = group.wasted.adding(content.size.times(UInt64(copies - 1)))
      groups[content.packs] = group
    }
    let total = groups.values.reduce(0 as UInt64) { $0.adding($1.wasted) }
    guard total >= smallest else { return [] }
    let sorted = groups.sorted { ($1.value.wasted, $0.key.joined()) < ($0.value.wasted, $1.key.joined()) }
    let lines = sorted.prefix(10).map { packs, group in
      "\(packs.joined(separator: ", ")): \(group.files) \(group.files == 1 ? "file" : "files"), \(SizeText.short(group.wasted)) wasted"
    }
    return [
      Finding(
        "\(SizeText.short(total)) of files are duplicates of files in other packs, such as '\(largest?.path ?? "")' of \(SizeText.short(largest?.size ?? 0)) in \(largest?.packs.joined(separator: " and ") ?? "")",
        file: document.path, actual: total, details: Array(lines),
        hint: "copy them into a pack of their own, such as 'shared', and set 'base: shared' for the others, which keep them")
    ]
  }

  static let unintendedContent = ReleaseRule(
    "PK6008", "a pack holds what was hardly meant to ship"
  ) { (files: Files, payload: Payload) -> [Finding] in
    files.with(payload).flatMap { entry, file, contents in
      let rebuild = "then: \(files.rebuild(entry.id))"
      var findings: [Finding] = []
      func add(_ message: String, _ level: FindingLevel? = nil, details: [String] = [], hint: String) {
        findings.append(Finding(message, level: level, pack: entry.id, file: file.path, details: details, hint: hint))
      }
      /// One finding for all things of a kind.
      func add(_ all: [String], _ level: FindingLevel? = nil, hint: String, _ message: (String) -> String) {
        guard let first = all.first else { return }
        add(message(first) + all.andMore, level, details: Array(all.prefix(20)), hint: hint)
      }
      add(contents.pointers, hint: "git lfs pull, \(rebuild)") { "\($0) is a pointer of Git LFS, not the file" }
      add(contents.conflicts, hint: "resolve it, or exclude the file, \(rebuild)") { "the merge conflict in \($0), is not resolved" }
      add(contents.unfit, hint: "get the file again, or exclude it, \(rebuild)") { "\($0), so it is not what its name says" }
      add(contents.emptyFiles, .warning, hint: "get the file again, or exclude it, \(rebuild)") { "\($0) is empty" }
      if file.content?.files == 0 { add("it is empty", hint: "correct its root in packer.yml, \(rebuild)") }
      if let page = contents.lostPage {
        add(
          "it has pages such as '\(printable(page.utf8))', but no index.html at its root", .warning,
          hint: "correct its root in packer.yml, or name the page index.html, \(rebuild)")
      }
      if contents.excludesPage { add("its index.html is excluded", .warning, hint: "correct 'exclude' in packer.yml, \(rebuild)") }
      add(contents.emptyDirectories, .note, hint: "exclude it in packer.yml if it is not needed") { "the directory \($0) is empty" }
      return findings
    }
  }

  private static let smallest: UInt64 = 1 << 20
}
