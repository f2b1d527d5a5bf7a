import PackFormat
import PackManifest

/// PK2009.
enum EntryContentCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2009", "a manifest entry describes other content than its pack", .error, .damaged, needs: [.files, .key],
    what: "Content root, content size, number of records and largest frame are the same in the pack and in its manifest entry.",
    onPhone: "The app compares them before it unpacks anything, and refuses the pack.",
    remedy: "Run 'packer build', which takes them from the finished pack.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard let content = file.content else { return nil }
      var differences: [String] = []
      if content.contentRoot != entry.contentRoot {
        differences.append("content root \(content.contentRoot.hex), but \(entry.contentRoot.hex) in the manifest")
      }
      if content.contentSize != entry.contentSize {
        differences.append("\(content.contentSize) bytes of content, but \(entry.contentSize) in the manifest")
      }
      if content.files != entry.files {
        differences.append("\(content.files) records, but \(entry.files) in the manifest")
      }
      if content.maxFrame != entry.maxFrame {
        differences.append("frames of up to \(content.maxFrame) bytes, but \(entry.maxFrame) in the manifest")
      }
      guard let first = differences.first else { return nil }
      return finding(
        "\(file.path) has \(first)", pack: entry.id, file: file.path, details: Array(differences.dropFirst()),
        hint: release.rebuild(entry.id))
    }
  }
}
