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

  /// The rule that leaves a path out, if one does.
  static func first(for path: String, isDirectory: Bool = false) -> ProposalRule? {
    let names = components(of: path)
    let directories = isDirectory ? names[...] : names.dropLast()
    for rule in all {
      if rule.pattern.hasSuffix("/") ? directories.contains(where: rule.names) : !isDirectory && names.last.map(rule.names) ?? false {
        return rule
      }
    }
    return directories.first { $0.hasPrefix(".") }.map { ProposalRule(pattern: $0 + "/", reason: "hidden folders") }
  }

  /// The names in a path. Not of characters: a slash and a combining mark behind it are one of those.
  static func components(of path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
  }

  /// Whether an entry of the configuration can name a path: in one, `${` starts what stands for something else.
  static func isPlain(_ path: String) -> Bool { !path.contains("${") }

  /// Whether a pattern can name a path and no other. Nothing takes the meaning from a wildcard.
  static func canName(_ path: String) -> Bool {
    isPlain(path) && !path.unicodeScalars.contains { $0 == "*" || $0 == "?" }
  }

  private func names(_ component: String) -> Bool {
    let text = pattern.hasSuffix("/") ? String(pattern.dropLast()) : pattern
    return text.hasPrefix("*") ? component.hasSuffix(text.dropFirst()) : component == text
  }
}
