import PackFormat
import PackManifest

/// The proposal as a file that people go on with: valid as it stands, and with comments that say what may be changed.
struct ProposalText {
  private(set) var text = ""

  init(_ proposal: ConfigurationProposal, _ place: ProjectPlace) {
    let title = place.title
    // Identifiers of apps and hosts have no underscores and dots of their own.
    let plain = title.map { $0 == "_" || $0 == "." ? "-" : $0 }.map(String.init).joined()
    add(
      """
      # What packer builds, and how. Documentation/CONFIGURATION.md explains every key, 'packer schema config' lists them for editors.
      # All paths start from here.

      # CHANGE: the app that the packs are for, and the app group that it shares with its extension.
      app:
        bundleID: com.example.\(plain)
        group: group.com.example.\(plain)

      # CHANGE: where the packs will be served. File names are put behind it.
      serve:
        baseURL: https://cdn.example.com/\(plain)/

      # Where the keys are, never the keys themselves. These make them:
      #   packer key new -o \(title).key
      #   packer key new --signing -o \(title).sign.key
      key: file:\(title).key
      # Take the # away to make each pack with a key of its own, which follows from that one: a server can hand out the key of a single pack then.
      # perPackKeys: true
      signKey: file:\(title).sign.key

      # How long a manifest is good for. 'packer build --renew' signs the same packs anew.
      validity: 180 days

      # What holds for every pack that does not say otherwise.
      defaults:
        # When the system fetches a pack: essential (before the app first starts), prefetch (after that), or onDemand (when the app asks).
        delivery: prefetch
        # What becomes of it on the device: unpacked into files, or packed, one file that is read in place.
        install: unpacked
      """)
    addExcludes(proposal.omitted)
    add("\npacks:")
    for pack in proposal.packs { add(pack) }
    if let shared = proposal.shared { add(shared, place) }
    add(
      """

      # Limits of your own, which 'packer verify' watches. Take the # away to use them.
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
    add("  # What to exclude. Metadata of systems (.DS_Store, __MACOSX, ._*, Thumbs.db) and .git are always skipped.")
    guard !patterns.isEmpty else {
      add("  # exclude: [\"*.js.map\", \"drafts/\"]")
      return
    }
    add("  exclude:")
    for item in patterns.sorted(by: { $0.pattern < $1.pattern }) {
      add("    - \(JSONString.quoted(item.pattern))  # \(item.reason): \(Self.count(item.count, "file", "files")), \(ByteCount(item.size))")
    }
  }

  private mutating func add(_ pack: ConfigurationProposal.Pack) {
    let contents = "\(Self.count(pack.files, "file", "files")), \(ByteCount(pack.contentSize))"
    if pack.isEach {
      add("  # A pack for each of \(Self.count(pack.count, "folder", "folders")): \(contents). ${name} is what the folder is called.")
    } else {
      add("  # \(contents)")
    }
    add("  - id: \(Self.scalar(pack.id))")
    add("    \(pack.isEach ? "each" : "root"): \(Self.scalar(pack.root))")
    if pack.delivery != .prefetch { add("    delivery: \(pack.delivery.rawValue)") }
    if pack.isEach { add("    tags: [\"${name}\"]") }
    if pack.isByLanguage { add("    language: \"${name}\"") }
    if !pack.excludes.isEmpty {
      add("    exclude:")
      for pattern in pack.excludes { add("      - \(JSONString.quoted(pattern))") }
    }
  }

  private mutating func add(_ shared: ConfigurationProposal.Shared, _ place: ProjectPlace) {
    let files = Self.count(shared.files, "file is", "files are")
    add("")
    add("  # \(files) the same in several packs, \(ByteCount(shared.contentSize)). In a pack of their own they would save")
    add(
      "  # \(ByteCount(shared.savedSize)) before compression. Packs are directories: you would move the files into one, and the app would")
    add("  # have to look for them there. The largest:")
    for paths in shared.largest {
      let more = paths.count > 2 ? " and \(paths.count - 2) more" : ""
      add("  #   " + paths.prefix(2).map { Self.comment(place.path($0)) }.joined(separator: " = ") + more)
    }
    add("  # - id: shared")
    add("  #   root: \(Self.scalar(place.path("shared")))")
  }

  /// A path that does not end the comment it stands in.
  private static func comment(_ path: String) -> String {
    printable(path.utf8).replacing("\u{2028}", with: "\\u{2028}").replacing("\u{2029}", with: "\\u{2029}")
  }

  private static func count(_ number: Int, _ one: String, _ many: String) -> String {
    "\(number) \(number == 1 ? one : many)"
  }

  /// A text as YAML takes it, in quotes where it could be something else.
  private static func scalar(_ text: String) -> String {
    let isPlain = text.wholeMatch(of: /[A-Za-z_.][A-Za-z0-9_.\/-]*/) != nil && ConfigurationNode.Scalar(plain: text).kind == .text
    // Words that older readers take for true and false.
    let isWord = ["yes", "no", "on", "off", "y", "n"].contains(text.lowercased())
    return isPlain && !isWord ? text : JSONString.quoted(text)
  }
}
