/// Files that lie in build folders and that no player needs.
struct ProposalRule: Sendable {
  /// What leaves them out, as `exclude` takes it.
  let pattern: String
  /// What they are, for a person.
  let reason: String

  private static let kinds: [(reason: String, patterns: [String])] = [
    ("source maps", ["*.js.map", "*.mjs.map", "*.cjs.map", "*.css.map", "*.ts.map", "*.wasm.map"]),
    (
      "sources of pictures and models",
      ["*.psd", "*.psb", "*.xcf", "*.kra", "*.blend", "*.blend1", "*.aseprite", "*.fla", "*.sketch", "*.afdesign"]
    ),
    ("packages of Node", ["node_modules/"]),
    ("version control", [".svn/", ".hg/", ".gitignore", ".gitattributes", ".gitmodules"]),
    ("files of editors", [".idea/", ".vscode/", "*.swp", "*~"]),
    ("backups", ["*.orig", "*.bak"]),
    ("logs", ["*.log"]),
    ("debug symbols", ["*.dSYM/", "*.pdb"]),
  ]

  private static let all = kinds.flatMap { kind in kind.patterns.map { ProposalRule(pattern: $0, reason: kind.reason) } }

  /// Finds the rules for paths. Those of one directory should follow one another: its names are looked at once for all of them.
  struct Search {
    private var directory = ""
    /// What excludes all that lies in the directory.
    private var outer: (place: Int, rule: ProposalRule)?

    /// The rule that leaves a path out, if one does.
    mutating func first(for path: String, isDirectory: Bool = false) -> ProposalRule? {
      let (parent, name) = isDirectory ? (path, nil) : ProposalRule.split(path)
      if !parent.utf8.elementsEqual(directory.utf8) {
        directory = parent
        outer = ProposalRule.first(forAllIn: parent)
      }
      let inner = name.flatMap { name in ProposalRule.all.firstIndex { !$0.isOfDirectories && $0.names(name) } }
      if let inner, inner < outer?.place ?? .max { return ProposalRule.all[inner] }
      return outer?.rule
    }
  }

  private static func first(forAllIn directory: String) -> (place: Int, rule: ProposalRule)? {
    let names = components(of: directory)
    if let place = all.firstIndex(where: { $0.isOfDirectories && names.contains(where: $0.names) }) { return (place, all[place]) }
    return names.first { $0.hasPrefix(".") }.map { (all.count, ProposalRule(pattern: $0 + "/", reason: "hidden folders")) }
  }

  /// The names in a path, or the first `count` of them and then all that follows. Not of characters: a slash and a combining mark behind it are one
  /// of those.
  static func components(of path: String, first count: Int = .max) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/"), maxSplits: count).map { String(Substring($0)) }
  }

  /// What is in front of the last slash of a path, empty where there is none, and what is behind it.
  static func split(_ path: String) -> (directory: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", path) }
    return (String(path[..<slash]), String(path[path.utf8.index(after: slash)...]))
  }

  /// Whether an entry of the configuration can name a path: in one, `${` starts what stands for something else.
  static func isPlain(_ path: String) -> Bool { !path.contains("${") }

  /// Whether a pattern can name a path and no other. Nothing takes the meaning from a wildcard.
  static func canName(_ path: String) -> Bool {
    isPlain(path) && !path.unicodeScalars.contains { $0 == "*" || $0 == "?" }
  }

  private var isOfDirectories: Bool { pattern.hasSuffix("/") }

  private func names(_ component: String) -> Bool {
    let text = isOfDirectories ? String(pattern.dropLast()) : pattern
    return text.hasPrefix("*") ? component.hasSuffix(text.dropFirst()) : component == text
  }
}
