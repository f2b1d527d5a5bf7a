import PackProject

/// PK2002.
enum StrayPackCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2002", "a pack file is not in the manifest", needs: [.files, .pages],
    what: "Every .pack file in the directory is listed in the manifest.",
    onPhone: "The file is uploaded and served, but never downloaded. Often it was meant to be in the manifest.",
    remedy: "Run 'packer build', which rewrites the directory, or remove the file.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.strayPacks.map { path in
      finding("\(path) is not in the manifest", file: path, hint: "rm \(ShellWord.path(path))")
    }
  }
}
