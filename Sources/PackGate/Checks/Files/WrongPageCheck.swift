import PackFormat
import PackManifest

/// PK2022.
enum WrongPageCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2022", "a page is not the one that the manifest names", .error, .damaged, needs: [.manifest],
    what: """
      Every page has the size and the SHA-256 of its reference, expands to the size that this says, at most 1 MiB, and lists in ascending \
      order what belongs in it.
      """,
    onPhone: "The app refuses the page, and finds none of its packs.",
    remedy: "Run 'packer build' and upload all of it; never replace a published page with another one of the same name.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pages.compactMap { page in
      guard let failure = page.failure, let size = page.size else { return nil }
      let (name, message) = (page.reference.fileName, failure.message)
      // A page that cannot be read may still be the right one.
      let kind: FindingKind = failure.code == .cannotRead ? .other : size < page.reference.size ? .truncated : .damaged
      return finding(
        message.hasPrefix(name) ? page.path + message.dropFirst(name.count) : failure.about(page.path).message,
        kind: kind, file: page.path, actual: size, limit: page.reference.size, hint: "packer build")
    }
  }
}
