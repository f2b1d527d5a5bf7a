import PackProject

/// PK2002.
enum StrayPackCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2002", "a pack lies beside the manifest that is not in it", needs: [.files],
    what: "Every .pack file of the directory is one of the manifest's.",
    onPhone: "Nothing downloads it, but it is uploaded and served: often it is a pack that was meant to be in the manifest.",
    remedy: "Run 'packer build', which writes the directory anew, or remove the file.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.strayPacks.map { path in
      finding("\(path) is in no entry of the manifest", file: path, hint: "rm \(ShellWord.path(path))")
    }
  }
}
