import PackFormat
import PackManifest

/// PK2009.
enum EntryContentCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2009", "a manifest entry does not describe the content of its pack", .error, .damaged, needs: [.files, .key],
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
        let sizes = SizeText.pair(content.contentSize, entry.contentSize)
        differences.append("\(sizes.0) of content, but \(sizes.1) in the manifest")
      }
      if content.files != entry.files {
        differences.append("\(content.files) records, but \(entry.files) in the manifest")
      }
      if content.maxFrame != entry.maxFrame {
        let sizes = SizeText.pair(content.maxFrame, entry.maxFrame)
        differences.append("frames of up to \(sizes.0), but up to \(sizes.1) in the manifest")
      }
      guard let first = differences.first else { return nil }
      return finding(
        "\(file.path) has \(first)", pack: entry.id, file: file.path, details: Array(differences.dropFirst()),
        hint: release.rebuild(entry.id))
    }
  }
}
