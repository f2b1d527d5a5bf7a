import PackerKit

/// What `--version` says.
enum Version {
  static let number = "0.1.0"

  static var text: String {
    let lines = ["packer \(number), encrypted asset packs (not HashiCorp Packer)"] + LibraryVersions.lines
    return lines.joined(separator: "\n")
  }
}
