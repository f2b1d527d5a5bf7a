import PackManifest

/// PK2020.
enum LinkedFileCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2020", "a file of the release is a symbolic link", needs: [.manifest],
    what: "The manifest, the packs and the files beside them are files, not symbolic links.",
    onPhone: """
      It depends on the upload: a program that copies links, or skips them, leaves a file that does not exist on the server, and the \
      download fails.
      """,
    remedy: "Copy the file to the place of the link, or run 'packer build'.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.links.map { path in
      let pack = release.entries.first { path == "\(release.directory)/\($0.fileName)" || path == $0.fileName }
      return finding(
        "\(path) is a symbolic link: after an upload that does not follow links, the download fails", pack: pack?.id, file: path,
        hint: "packer build")
    }
  }
}
