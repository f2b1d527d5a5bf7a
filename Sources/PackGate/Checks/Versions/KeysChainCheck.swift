import PackBuild
import PackFormat
import PackProject
import PackTrust

/// PK5016.
enum KeysChainCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK5016", "the keys documents in the manifest do not lead an app to the newest one", .error, .signature,
    needs: [.manifest, .configuration],
    what: "From the keys document of every app version that is not retired, those in the manifest lead to the newest in 'keysFile'.",
    onPhone: "The app does not know the new signing keys, refuses the manifest, and keeps the packs it has.",
    remedy: "Build again: 'packer build' puts the documents into the manifest. If the file is at fault, restore it from version control.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let keys = release.keys else { return [] }
    guard let file = keys.file, let newest = file.newest else {
      let failure = keys.failure.map { "\($0.message)" } ?? "the keys documents cannot be read"
      return [finding(failure, file: keys.path, hint: keys.failure.flatMap { release.wording($0) })]
    }
    let documents = release.manifest.keysDocuments
    var findings: [ReleaseFinding] = []
    if documents.contains(where: { document in !file.documents.contains { $0.bytes == document } }) {
      findings.append(
        finding(
          "the manifest has a keys document that is not in \(keys.path)", file: release.manifest.path, hint: "packer build"))
    }
    let apps = release.apps.filter { $0.keysVersion != nil }
    let starts = apps.map { (app: $0.title, version: $0.keysVersion ?? 0) }
    for (app, version) in starts.isEmpty ? [("that embeds the oldest", file.documents[0].content.version)] : starts {
      guard let first = file.document(version), let trusted = try? TrustedKeys(first) else {
        findings.append(
          finding("app \(app) embeds keys document \(version), which is not in \(keys.path)", app: app, file: keys.path, hint: nil))
        continue
      }
      let progress = trusted.following(documents)
      guard progress.failure != nil || progress.keys.newest != newest else { continue }
      let reached = progress.keys.newest?.content.version ?? version
      findings.append(
        finding(
          "app \(app), with keys document \(version), gets to \(reached) and not to \(newest.content.version)"
            + (progress.failure.map { ": \($0.message)" } ?? ""),
          app: apps.isEmpty ? nil : app, file: release.manifest.path, hint: "packer build"))
    }
    return findings
  }
}
