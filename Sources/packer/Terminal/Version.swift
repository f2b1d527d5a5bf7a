/// The text of `--version`.
enum Version {
  static let number = "0.1.0"

  /// The first line.
  static let title = "packer \(number), encrypted asset packs (not HashiCorp Packer)"

  static var text: String {
    ([title] + LibraryVersions.lines).joined(separator: "\n")
  }
}
