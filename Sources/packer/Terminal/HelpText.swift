/// The description of a command with many options: `--help` shows its start and the examples, `--help-hidden` and the manual all of it.
enum HelpText {
  /// Whether everything is asked for: long descriptions, and commands and options that few people need.
  static let isWhole = processArguments.contains { $0 == "--help-hidden" || $0 == "--experimental-dump-help" }

  static func text(_ start: String, more: String, examples: String) -> String {
    (isWhole ? [start, more, examples] : [start + " --help-hidden shows more, and all options.", examples]).joined(separator: "\n\n")
  }
}
