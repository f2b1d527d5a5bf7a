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
      let rebuild = "then: \(release.rebuild(entry.id))"
      var findings: [ReleaseFinding] = []
      func add(_ message: String, _ level: FindingLevel? = nil, details: [String] = [], hint: String) {
        findings.append(finding(message, level: level, pack: entry.id, file: file.path, details: details, hint: hint))
      }
      /// One finding for all things of a kind.
      func add(_ all: [String], _ level: FindingLevel? = nil, hint: String, _ message: (String) -> String) {
        guard let first = all.first else { return }
        add(message(first) + all.andMore, level, details: Array(all.prefix(20)), hint: hint)
      }
      add(file.pointers, hint: "git lfs pull, \(rebuild)") { "\($0) is a pointer of Git LFS, not the file" }
      add(file.conflicts, hint: "resolve it, or exclude the file, \(rebuild)") { "the merge conflict in \($0), is not resolved" }
      add(file.unfit, hint: "get the file again, or exclude it, \(rebuild)") { "\($0), so it is not what its name says" }
      add(file.emptyFiles, .warning, hint: "get the file again, or exclude it, \(rebuild)") { "\($0) is empty" }
      if file.content?.files == 0 { add("it is empty", hint: "correct its root in packer.yml, \(rebuild)") }
      if let page = file.lostPage {
        add(
          "it has pages such as '\(printable(page.utf8))', but no index.html at its root", .warning,
          hint: "correct its root in packer.yml, \(rebuild)")
      }
      if file.excludesPage { add("its index.html is excluded", .warning, hint: "correct 'exclude' in packer.yml, \(rebuild)") }
      add(file.emptyDirectories, .note, hint: "exclude it in packer.yml if it is not needed") { "the directory \($0) is empty" }
      return findings
    }
  }
}
