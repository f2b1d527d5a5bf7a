/// A file that is packed although it looks like a secret, as packer.yml allows it.
package struct AllowedSecret: Hashable, Sendable {
  /// A pattern of paths, as in `exclude`.
  package var path: String
  /// The id of the only rule that does not count; nil for all of them.
  package var rule: String?
  /// The reason. Never empty.
  package var reason: String

  /// The ids that ``rule`` may have.
  static let rules: [String] = {
    var ids = [SecretRule.fileName, SecretRule.keyFile]
    for rule in SecretRule.all where !ids.contains(rule.id) { ids.append(rule.id) }
    return ids
  }()
}

extension AllowedSecret {
  /// - Parameter option: the id of a rule, a colon, and a pattern of paths.
  package init(option: String) throws(PackError) {
    let parts = option.split(separator: ":", maxSplits: 1).map { String($0) }
    guard parts.count == 2, Self.rules.contains(parts[0]) else {
      throw PackError(
        .usage, "--allow-secret is '\(printable(option.utf8))', which is not a rule and a pattern",
        hint: "write one such as gcp-api-key:config/web.json, with the rule that the error has in parentheses")
    }
    try Glob.check([parts[1]])
    self.init(path: parts[1], rule: parts[0], reason: "--allow-secret")
  }
}

extension [AllowedSecret] {
  /// Whether one of them allows what a rule found in a file.
  package func allow(_ file: String, rule: String) -> Bool {
    contains { ($0.rule ?? rule) == rule && DirectoryScan.doesExclude(file, isDirectory: false, by: [$0.path]) }
  }

  /// Whether one of them is for a file.
  package func mention(_ file: String) -> Bool {
    contains { DirectoryScan.doesExclude(file, isDirectory: false, by: [$0.path]) }
  }
}
