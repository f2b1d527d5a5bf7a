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
      return finding(
        message.hasPrefix(name) ? page.path + message.dropFirst(name.count) : "\(page.path): \(message)",
        kind: size < page.reference.size ? .truncated : .damaged, file: page.path, actual: size, limit: page.reference.size,
        hint: "packer build")
    }
  }
}
