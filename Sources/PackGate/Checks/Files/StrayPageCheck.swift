import PackProject

/// PK2023.
enum StrayPageCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2023", "a page is not in the manifest", needs: [.manifest, .pages],
    what: "The manifest or an index page names every .page file in the directory.",
    onPhone: "The file is uploaded and served, but never downloaded.",
    remedy: "Run 'packer build', which rewrites the directory, or remove the file.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.strayPages.map { path in
      finding("\(path) is not in the manifest", file: path, hint: "rm \(ShellWord.path(path))")
    }
  }
}
