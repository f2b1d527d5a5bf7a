extension SecretScanner {
  /// Why a file looks like a secret.
  package struct Reason: Hashable, Sendable {
    /// The id of the rule.
    package let rule: String
    /// The reason, which continues a sentence about the file.
    package let reason: String
  }

  /// Searches a whole file, also for the start of a key, and also as a text in UTF-16.
  package static func secrets(in content: Span<UInt8>) -> [Reason] {
    var scanner = SecretScanner()
    scanner.add(content, isLast: true)
    return secrets(scanner.matches, in: content) + (WideText.narrowed(content).map { secrets(in: $0.byteSpan) } ?? [])
  }

  /// Returns the matches in a whole file with their lines, in the order of the lines, and before them what its first bytes show.
  package static func secrets(_ matches: [Match], in content: Span<UInt8>) -> [Reason] {
    var reasons: [Reason] = []
    if content.count <= Int(SourceRules.largestSecret), let reason = SourceRules.secret(content: content) {
      reasons.append(Reason(rule: SecretRule.keyFile, reason: "\(reason) (\(SecretRule.keyFile))"))
    }
    for match in matches.sorted(by: { $0.offset < $1.offset }) {
      var place = LinePlace()
      place.add(content.extracting(first: Int(match.offset)))
      reasons.append(Reason(rule: match.rule.id, reason: match.rule.finding(at: place)))
    }
    return reasons
  }
}
