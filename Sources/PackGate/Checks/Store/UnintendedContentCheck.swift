import PackFormat
import PackManifest

/// PK6008.
enum UnintendedContentCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK6008", "a pack holds what was hardly meant to ship", needs: [.files, .payload],
    what: """
      No file is a pointer of Git LFS, which stands for a file that was not fetched, or has the marks of an unresolved merge; no picture, sound, \
      font or script is a web page, a text or zeros, as failed downloads leave them, or empty (a warning); no pack is empty; a pack with pages has \
      index.html at its root, and does not exclude it (warnings); no directory is empty (a note).
      """,
    onPhone: "A game misses its pictures, or shows no page.",
    remedy: """
      Run 'git lfs pull', resolve conflicts and get broken files again before the build, or correct the root of the pack in packer.yml.
      """)

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.flatMap { entry, file in
      var findings: [ReleaseFinding] = []
      if let first = file.pointers.first {
        findings.append(
          finding(
            "\(first) is a pointer of Git LFS, not the file\(file.pointers.andMore)", pack: entry.id, file: file.path,
            details: Array(file.pointers.prefix(20)), hint: "git lfs pull, then: \(release.rebuild(entry.id))"))
      }
      if let first = file.conflicts.first {
        findings.append(
          finding(
            "the merge conflict in \(first), is not resolved\(file.conflicts.andMore)", pack: entry.id, file: file.path,
            details: Array(file.conflicts.prefix(20)), hint: "resolve it, or exclude the file, then: \(release.rebuild(entry.id))"))
      }
      if let first = file.unfit.first {
        findings.append(
          finding(
            "\(first), so it is not what its name says\(file.unfit.andMore)", pack: entry.id, file: file.path,
            details: Array(file.unfit.prefix(20)), hint: "get the file again, or exclude it, then: \(release.rebuild(entry.id))"))
      }
      if let first = file.emptyFiles.first {
        findings.append(
          finding(
            "\(first) is empty\(file.emptyFiles.andMore)", level: .warning, pack: entry.id, file: file.path,
            details: Array(file.emptyFiles.prefix(20)), hint: "get the file again, or exclude it, then: \(release.rebuild(entry.id))"))
      }
      if file.content?.files == 0 {
        findings.append(
          finding(
            "it is empty", pack: entry.id, file: file.path, hint: "correct its root in packer.yml, then: \(release.rebuild(entry.id))"))
      }
      if let page = file.lostPage {
        findings.append(
          finding(
            "it has pages such as '\(printable(page.utf8))', but no index.html at its root", level: .warning, pack: entry.id,
            file: file.path, hint: "correct its root in packer.yml, then: \(release.rebuild(entry.id))"))
      }
      if file.excludesPage {
        findings.append(
          finding(
            "its index.html is excluded", level: .warning, pack: entry.id, file: file.path,
            hint: "correct 'exclude' in packer.yml, then: \(release.rebuild(entry.id))"))
      }
      if let first = file.emptyDirectories.first {
        findings.append(
          finding(
            "the directory \(first) is empty\(file.emptyDirectories.andMore)", level: .note, pack: entry.id, file: file.path,
            details: Array(file.emptyDirectories.prefix(20)), hint: "exclude it in packer.yml if it is not needed"))
      }
      return findings
    }
  }
}
