import PackBuild
import PackFormat
import PackProject

/// PK4008.
enum ManifestURLCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK4008", "the app fetches the manifest from another URL", needs: [.plist],
    what: """
      BAManifestURL is serve.manifestURL of packer.yml, and a URL that the system can download. A query or an odd port is a warning.
      """,
    onPhone: "The system fetches the manifest before it runs the extension. Without it, no pack is downloaded.",
    remedy: "Run 'packer plist merge Info.plist', or correct serve.manifestURL in packer.yml.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let plist = release.plist, let text = plist.keys.manifestURL else { return [] }
    guard !AppTargets.isVariable(text) else {
      return [
        finding(
          "BAManifestURL is \(text), with a variable that Xcode replaces, so it is not checked", level: .warning, file: plist.path,
          hint: "give the Info.plist of the built app")
      ]
    }
    do throws(PackError) {
      let url = try ServedURL(text)
      if let wanted = release.configuration?.serve.manifestURL, wanted != text {
        return [
          finding(
            "BAManifestURL is \(text), but the manifest is served at \(wanted)", file: plist.path, phone: .notFound,
            hint: plist.mergeHint)
        ]
      }
      return url.warnings.map { finding($0, level: .warning, file: plist.path, phone: .notFound) }
    } catch {
      return [
        finding("BAManifestURL: \(error.message)", file: plist.path, phone: .notFound, hint: release.wording(error) ?? plist.mergeHint)
      ]
    }
  }
}
