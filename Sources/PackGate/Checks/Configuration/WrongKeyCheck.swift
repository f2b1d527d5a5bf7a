import PackFormat
import PackManifest
import PackProject

/// PK1001.
enum WrongKeyCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK1001", "a pack was made with another key", .error, .wrongKey, needs: [.files, .key],
    what: "Every pack opens with the content key that was given.",
    onPhone: "The app cannot open the pack: it holds only its own key.",
    remedy: "Give the key with the id that 'packer inspect' prints, or build with the app's key.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.pairs.compactMap { entry, file in
      guard let failure = file.failure, failure.code == .wrongKey else { return nil }
      // If the given key is the one in the manifest, a header with another key id was changed, which PK2004 reports.
      guard !file.isChanged(since: entry) || !release.hasKey(of: entry) else { return nil }
      return finding(
        failure.message, pack: entry.id, file: file.path, hint: release.wording(failure) ?? "packer inspect \(ShellWord.path(file.path))")
    }
  }
}
