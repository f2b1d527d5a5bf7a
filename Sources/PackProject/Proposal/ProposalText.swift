/// The proposal as a file for people to edit: valid without changes, with comments that say what can be changed.
struct ProposalText {
  private(set) var text = ""

  init(_ proposal: ConfigurationProposal, _ place: ProjectPlace) {
    let title = place.title
    // A component of an app identifier or a host name cannot contain underscores or dots.
    let plain = title.map { $0 == "_" || $0 == "." ? "-" : $0 }.map(String.init).joined()
    add(
      """
      # The configuration of packer. Documentation/CONFIGURATION.md explains every key; 'packer init --schema' lists them for editors.
      # All paths are relative to this file. For completion in editors, run 'packer init --schema > packer.schema.json' and remove a # here:
      ## yaml-language-server: $schema=packer.schema.json

      # CHANGE: the app that the packs are for, and the app group that it shares with its extension.
      app:
        bundleID: com.example.\(plain)
        group: group.com.example.\(plain)

      # CHANGE: the URL where the packs will be served. File names are appended to it.
      serve:
        baseURL: https://cdn.example.com/\(plain)/

      # Where the keys are, never the keys themselves. To make them:
      #   packer key new -o \(title).key
      #   packer key new --signing -o \(title).sign.key
      key: file:\(title).key
      # Remove the # to give each pack its own key, derived from that one. A server can then hand out the key of a single pack.
      # perPackKeys: true
      signKey: file:\(title).sign.key

      # How long a manifest is valid. 'packer build --renew' signs the same packs again.
      validity: 180 days

      # The record of releases, packer.lock.json, belongs in version control. A build without it would start with version 1 again.
      lock: required

      # Settings for packs that do not set their own.
      defaults:
        # When a pack is downloaded: essential (before the app first starts), prefetch (after that), or onDemand (when the app requests it).
        delivery: prefetch
        # How it is stored on the device: unpacked into files, or packed (one file that is read in place, as games in web views need it).
        install: unpacked
      """)
    addExcludes(proposal.omitted)
    addFallback(proposal.packs.map(\.languages).filter { !$0.isEmpty })
    add("\npacks:")
    for pack in proposal.packs { add(pack) }
    addUnassigned(proposal, place)
    if let shared = proposal.shared { add(shared, place) }
    add(
      """

      # Your own limits, which 'packer verify' checks. Remove the # to use them.
      # totals:
      #   essential: {download: 30 MB, installed: 60 MB}
      #   other: {download: 300 MB, installed: 600 MB}
      #   message: Ask the producers before raising these.
      """)
  }

  private mutating func add(_ lines: String) {
    text += lines + "\n"
  }

  private mutating func addExcludes(_ omitted: [ConfigurationProposal.OmittedPath]) {
    var patterns: [(pattern: String, reason: String, count: Int, size: UInt64)] = []
    for path in omitted {
      guard let pattern = path.pattern else { continue }
      if let index = patterns.firstIndex(where: { $0.pattern == pattern }) {
        patterns[index].count += 1
        patterns[index].size += path.size ?? 0
      } else {
        patterns.append((pattern, path.reason, 1, path.size ?? 0))
      }
    }
    add("  # What to exclude. System metadata (.DS_Store, __MACOSX, ._*, Thumbs.db) and .git are always skipped.")
    guard !patterns.isEmpty else {
      add("  # exclude: [\"*.js.map\", \"drafts/\"]")
      return
    }
    add("  exclude:")
    for item in patterns.sorted(by: { $0.pattern < $1.pattern }) {
      add("    - \(JSON.quoted(item.pattern))  # \(item.reason): \(Table.count(item.count, "file", "files")), \(ByteCount(item.size))")
    }
  }

  /// - Parameter groups: The languages of each entry that has some.
  private mutating func addFallback(_ groups: [[String]]) {
    guard let first = groups.first?.first else { return }
    let hasEnglish = groups.allSatisfy { LanguageTag.closest(of: $0, to: ["en"]) != nil }
    add("\n# CHANGE: the language of the packs for players of all languages that are not there.")
    add("fallbackLanguage: \(hasEnglish ? "en" : Self.scalar(first))")
  }

  private mutating func add(_ pack: ConfigurationProposal.Pack) {
    let contents = "\(Table.count(pack.files, "file", "files")), \(ByteCount(pack.contentSize))"
    if pack.isEach {
      add("  # One pack for each of \(Table.count(pack.count, "folder", "folders")): \(contents). ${name} is the name of the folder.")
    } else {
      add("  # \(contents)")
    }
    if let name = pack.differingName {
      add("  # The folder is '\(Self.comment(name))'. An id must not change once it was released: choose it now.")
    }
    if pack.isLarge {
      add("  # If the app cannot start without it, add 'delivery: essential': then it is downloaded before the first launch.")
    }
    add("  - id: \(Self.scalar(pack.id))")
    add("    \(pack.isEach ? "each" : "root"): \(Self.scalar(pack.root))")
    if pack.delivery != .prefetch { add("    delivery: \(pack.delivery.rawValue)") }
    if pack.isPage { add("    install: packed  # a game: its index.html is shown from the pack") }
    if pack.isEach { add("    tags: [\"${name}\"]") }
    if !pack.languages.isEmpty { add("    language: \"${name}\"") }
    if !pack.excludes.isEmpty {
      add("    exclude:")
      for pattern in pack.excludes { add("      - \(JSON.quoted(pattern))") }
    }
  }

  private mutating func addUnassigned(_ proposal: ConfigurationProposal, _ place: ProjectPlace) {
    let left = proposal.unassigned
    guard !left.isEmpty || !proposal.unbuilt.isEmpty else { return }
    add("")
    for project in proposal.unbuilt { add("  # Not built, and so in no pack: \(Self.comment(project.reason)).") }
    guard !left.isEmpty else { return }
    let size = left.reduce(0) { $0 + $1.contentSize }
    let files = Table.count(left.reduce(0) { $0 + $1.files }, "file", "files")
    add("  # In no pack, because nothing shows that players need them: \(files), \(ByteCount(size)). The largest:")
    for item in left.prefix(Self.mostUnassigned) {
      add("  #   \(Self.comment(place.path(item.path)))\(item.isDirectory ? "/" : "")  \(ByteCount(item.contentSize))")
    }
  }

  /// The number of paths in no pack that are listed.
  private static let mostUnassigned = 12

  private mutating func add(_ shared: ConfigurationProposal.Shared, _ place: ProjectPlace) {
    let files = Table.count(shared.files, "file is", "files are")
    add("")
    add("  # \(files) the same in several packs, \(ByteCount(shared.contentSize)). To have them downloaded once, which saves")
    add(
      "  # \(ByteCount(shared.savedSize)) before compression, copy them into a pack that the others name as their base. Do not move them: a game"
    )
    add("  # finds only files of its own pack. Allowances and devices need room for the copies. The largest:")
    for paths in shared.largest {
      let more = paths.count > 2 ? " and \(paths.count - 2) more" : ""
      add("  #   " + paths.prefix(2).map { Self.comment(place.path($0)) }.joined(separator: " = ") + more)
    }
    add("  # - id: shared")
    add("  #   root: \(Self.scalar(place.path("shared")))")
    add("  # In each pack that has them:")
    add("  #   base: shared")
  }

  /// Returns a path for a comment, with line breaks escaped.
  private static func comment(_ path: String) -> String {
    printable(path.utf8).replacing("\u{2028}", with: "\\u{2028}").replacing("\u{2029}", with: "\\u{2029}")
  }

  /// Returns a text as a YAML scalar, in quotes if YAML could take it for another type.
  private static func scalar(_ text: String) -> String {
    let isPlain = text.wholeMatch(of: /[A-Za-z_.][A-Za-z0-9_.\/-]*/) != nil && ConfigurationNode.Scalar(plain: text).kind == .text
    // Words that older YAML readers take for true or false.
    let isWord = ["yes", "no", "on", "off", "y", "n"].contains(text.lowercased())
    return isPlain && !isWord ? text : JSON.quoted(text)
  }
}
