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
    let findings = release.pairs.compactMap { entry, file -> ReleaseFinding? in
      guard let failure = file.failure, failure.code == .wrongKey || failure.code == .notWrapped else { return nil }
      // If the given key is the one in the manifest, a header with another key id was changed, which PK2004 reports.
      guard !file.isChanged(since: entry) || !release.hasKey(of: entry) else { return nil }
      return finding(
        failure.message, pack: entry.id, file: file.path, hint: release.wording(failure) ?? "packer inspect \(ShellWord.path(file.path))")
    }
    guard findings.count > 1, let first = findings.first else { return findings }
    let wanted = Set(findings.compactMap(\.pack))
    let keys = Set(release.pairs.filter { wanted.contains($0.entry.id) }.compactMap { $0.file.start?.keyID })
    let isOne = keys.count == 1
    let fault = isOne ? "were made with key \(keys.first ?? "")" : "were made with \(keys.count) other keys"
    return [
      finding(
        "\(findings.count) packs \(fault), but the key given is \(release.keyID ?? "another")", file: release.manifest.path,
        details: isOne ? findings.compactMap(\.pack) : findings.map(\.headline),
        hint: isOne ? first.hint : "give the root key that their keys are derived from, or: packer build")
    ]
  }
}
