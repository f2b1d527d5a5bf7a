/// A rule for files in build folders that no player needs.
struct ProposalRule: Sendable {
  /// The pattern that excludes them, as `exclude` takes it.
  let pattern: String
  /// What they are, for a person.
  let reason: String

  /// What the files are that packer itself makes.
  static let own = "packer's own files"

  private static let kinds: [(reason: String, patterns: [String])] = [
    (own, ["packer.yml", "packer.lock.json", "packer.apps/"]),
    ("source maps", ["*.js.map", "*.mjs.map", "*.cjs.map", "*.css.map", "*.ts.map", "*.wasm.map"]),
    (
      "sources of images and models",
      ["*.psd", "*.psb", "*.xcf", "*.kra", "*.blend", "*.blend1", "*.aseprite", "*.fla", "*.sketch", "*.afdesign"]
    ),
    ("Node packages", ["node_modules/"]),
    ("version control", [".svn/", ".hg/", ".gitignore", ".gitattributes", ".gitmodules"]),
    (
      "files of the project",
      [
        "package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bower.json", "tsconfig.json",
        "jsconfig.json", "Gruntfile.js", "gulpfile.js", "webpack.config.js", "rollup.config.js", "vite.config.js", "vite.config.ts",
        "Makefile", "CMakeLists.txt", "Rakefile", "Gemfile", "Gemfile.lock", "Dockerfile", "docker-compose.yml",
      ]
    ),
    ("documents of developers", ["README.md", "README", "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md"]),
    (
      "settings of tools",
      [
        ".editorconfig", ".eslintrc", ".eslintrc.js", ".eslintrc.cjs", ".eslintrc.json", ".eslintrc.yml", ".eslintignore", ".jshintrc",
        ".jshintignore", ".prettierrc", ".prettierignore", ".prettierrc.json", ".babelrc", ".bowerrc", ".npmignore", ".dockerignore",
        ".nojekyll", ".travis.yml", ".browserslistrc", ".nvmrc",
      ]
    ),
    ("sources of scripts and style sheets", ["*.scss", "*.sass", "*.coffee"]), ("type declarations", ["*.d.ts"]),
    ("editor files", [".idea/", ".vscode/", "*.swp", "*.swo", "*~", "~$*", ".~lock.*"]),
    ("backups", ["*.orig", "*.bak", "*.rej"]),
    ("unfinished downloads", ["*.crdownload", "*.partial"]),
    ("files of the system", ["desktop.ini", "ehthumbs.db", ".nfs*", ".fuse_hidden*", ".directory", ".Trashes/", ".Spotlight-V100/"]),
    ("logs", ["*.log", "nohup.out"]),
    ("debug symbols", ["*.dSYM/", "*.pdb"]),
  ]

  /// The kinds that no game needs. Others may be wanted: a document of developers may be a license.
  static let unintended: Set<String> = [
    own, "source maps", "sources of images and models", "Node packages", "version control", "editor files", "backups",
    "unfinished downloads", "files of the system", "logs", "debug symbols",
  ]

  private static let all = kinds.flatMap { kind in kind.patterns.map { ProposalRule(pattern: $0, reason: kind.reason) } }
  private static let files = NamePatterns(all.enumerated().filter { !$1.pattern.hasSuffix("/") }.map { ($0, $1.pattern) })
  private static let directories = NamePatterns(
    all.enumerated().filter { $1.pattern.hasSuffix("/") }.map { ($0, String($1.pattern.dropLast())) })

  /// A search for the rules of paths. Paths of the same directory should follow each other, because its names are checked only once for all of them.
  struct Search {
    private var directory = ""
    /// The rule that excludes everything in the directory.
    private var outer: (place: Int, rule: ProposalRule)?

    /// Returns the rule that excludes a path, if there is one.
    mutating func first(for path: String, isDirectory: Bool = false) -> ProposalRule? {
      let (parent, name) = isDirectory ? (path, nil) : ProposalRule.split(path)
      if !parent.utf8.elementsEqual(directory.utf8) {
        directory = parent
        outer = ProposalRule.first(forAllIn: parent)
      }
      let inner = name.flatMap(ProposalRule.files.first)
      if let inner, inner < outer?.place ?? .max { return ProposalRule.all[inner] }
      return outer?.rule
    }
  }

  private static func first(forAllIn directory: String) -> (place: Int, rule: ProposalRule)? {
    let names = components(of: directory)
    if let place = names.compactMap(directories.first).min() { return (place, all[place]) }
    return names.first { $0.hasPrefix(".") }.map { (all.count, ProposalRule(pattern: $0 + "/", reason: "hidden folders")) }
  }

  /// Returns the components of a path, or the first `count` of them and then the rest as one. Splits bytes, because a slash and a combining mark
  /// after it are a single character.
  static func components(of path: String, first count: Int = .max) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/"), maxSplits: count).map { String(Substring($0)) }
  }

  /// Returns the part of a path before its last slash, empty if it has none, and the part after it.
  static func split(_ path: String) -> (directory: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", path) }
    return (String(path[..<slash]), String(path[path.utf8.index(after: slash)...]))
  }

  /// Whether an entry of the configuration can name a path: there, `${` starts a placeholder.
  static func isPlain(_ path: String) -> Bool { !path.contains("${") }

  /// Whether a pattern can match a path and no other. Special characters cannot be escaped.
  static func canName(_ path: String) -> Bool {
    isPlain(path) && !path.unicodeScalars.contains { $0 == "*" || $0 == "?" || Glob.isReserved($0) }
  }

  /// Returns the directory that stays without anything of a path that a pattern excludes.
  static func remainder(of path: String, excludedBy pattern: String?) -> String {
    guard let pattern, pattern.hasSuffix("/") else { return split(path).directory }
    let names = NamePatterns([(0, String(pattern.dropLast()))])
    return components(of: path).prefix { names.first(for: $0) == nil }.joined(separator: "/")
  }
}

/// Patterns of names, each with its place in a list. Comparing each name with each pattern would take a seventh of the time of packing small texts.
private struct NamePatterns {
  private var whole: [String: Int] = [:]
  /// The bytes that names start with.
  private var starts: [(place: Int, bytes: [UInt8])] = []
  /// The bytes that names end with, by the last one.
  private var ends: [UInt8: [(place: Int, bytes: [UInt8])]] = [:]

  /// - Parameter patterns: names, or a `*` and their end, or their beginning and a `*`, in ascending order of their places.
  init(_ patterns: [(place: Int, pattern: String)]) {
    for (place, pattern) in patterns {
      let bytes = Array(pattern.utf8)
      if bytes.first == UInt8(ascii: "*"), let last = bytes.dropFirst().last {
        ends[last, default: []].append((place, Array(bytes.dropFirst())))
      } else if bytes.last == UInt8(ascii: "*") {
        starts.append((place, Array(bytes.dropLast())))
      } else if whole[pattern] == nil {
        whole[pattern] = place
      }
    }
  }

  /// Returns the place of the first pattern that a name matches.
  func first(for name: String) -> Int? {
    let start = starts.first { name.utf8.starts(with: $0.bytes) }
    let end = name.utf8.last.flatMap { ends[$0] }?.first { name.utf8.suffix($0.bytes.count).elementsEqual($0.bytes) }
    return [whole[name], start?.place, end?.place].compactMap { $0 }.min()
  }
}
