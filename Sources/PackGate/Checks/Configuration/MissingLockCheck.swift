import PackBuild
import PackManifest
import PackProject

/// PK1008.
enum MissingLockCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK1008", "the lock file is missing", needs: [.configuration],
    what: "If packer.yml says 'lock: required', there is a packer.lock.json.",
    onPhone:
      "Nothing compares the versions with the released ones. A build without the lock file starts with version 1, and every device refuses it.",
    remedy: "Restore the file from version control, then run 'packer build'.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    guard let configuration = release.configuration, configuration.lock == .required, release.lock == nil else { return [] }
    let path = configuration.path(of: ReleaseFile.lock)
    return [
      finding(
        "there is no \(path), but \(configuration.path) says 'lock: required'", file: configuration.path,
        hint: ReleaseLock.recovery(of: path))
    ]
  }
}
