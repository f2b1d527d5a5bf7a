import PackManifest

/// PK2021.
enum MissingPageCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2021", "a page of the manifest is missing", phone: .notFound, needs: [.manifest],
    what: "Every page that the manifest or an index page names is in the same directory.",
    onPhone: "The download of the page fails with 404, and the app finds none of its packs.",
    remedy: "Run 'packer build', and upload the whole directory: packs and pages first, the manifest last.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pages.filter { $0.size == nil }.map { page in
      finding(
        "\(page.path) \(page.absence), but the manifest names it", file: page.path, limit: page.reference.size, hint: "packer build")
    }
  }
}
