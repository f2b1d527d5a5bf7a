import PackFiles
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
    guard !release.links.isEmpty else { return [] }
    let packs = Dictionary(release.entries.map { ($0.fileName, $0.id) }, uniquingKeysWith: { first, _ in first })
    return release.links.map { path in
      let pack = PathParts(path).flatMap { packs[$0.name] }
      return finding(
        "\(path) is a symbolic link: after an upload that does not follow links, the download fails", pack: pack, file: path,
        hint: "packer build")
    }
  }
}
