import PackFiles
import PackFormat
import PackProject

/// PK2018.
enum ForeignFileCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2018", "a file in the directory does not belong to the release", needs: [.manifest],
    what: """
      The directory that goes up holds the manifest, its packs and what 'packer build' writes beside them, and nothing else: no plain \
      content, no notes. What the system leaves by itself, such as .DS_Store, is a warning.
      """,
    onPhone: "No device reads the file, but everybody can: it is uploaded in the clear.",
    remedy: "Move it out of the directory, or upload only the files of the release.")

  /// The largest number of names that have findings of their own.
  private static let mostSingle = 5
  /// The largest number of names that a finding lists.
  private static let mostNamed = 20

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    let isHarmless = { (foreign: ForeignFiles) in foreign.junk != nil && foreign.copyCount == 0 }
    let (junk, strangers) = (release.foreign.filter(isHarmless), release.foreign.filter { !isHarmless($0) })
    return findings(strangers, .error, release) + findings(junk, .warning, release)
  }

  private static func findings(_ all: [ForeignFiles], _ level: FindingLevel, _ release: ReleaseContext) -> [ReleaseFinding] {
    guard all.count > mostSingle else {
      return all.map { foreign in
        finding(
          "\(foreign.path) is not part of the release (\(what(foreign)))\(copies(foreign.copyCount))", level: level, file: foreign.path,
          details: foreign.copies + rest(foreign.copyCount - foreign.copies.count), hint: release.movingAside([foreign.path]))
      }
    }
    let count = all.reduce(0) { $0 + $1.count }
    let size = all.reduce(0 as UInt64) { $0.adding($1.size) }
    let named = all.prefix(mostNamed).map { "\($0.path) (\(what($0)))\(copies($0.copyCount))" }
    return [
      finding(
        "\(all.count) names in \(release.directory) are not part of the release (\(count) files, \(SizeText.short(size)))\(copies(all.reduce(0) { $0 + $1.copyCount }))",
        level: level, file: release.directory, details: named + rest(all.count - named.count),
        hint: all.count <= mostNamed
          ? release.movingAside(all.map(\.path)) : "packer build -o NEWDIR, which writes the release without them; then compare both")
    ]
  }

  private static func what(_ foreign: ForeignFiles) -> String {
    foreign.junk ?? foreign.oddity ?? "\(foreign.count == 1 ? "1 file" : "\(foreign.count) files"), \(SizeText.short(foreign.size))"
  }

  private static func copies(_ count: Int) -> String {
    count == 0 ? "" : ", and holds \(count == 1 ? "a file" : "\(count) files") of its packs in the clear"
  }

  private static func rest(_ count: Int) -> [String] { count > 0 ? ["and \(count) more"] : [] }
}

extension ReleaseContext {
  /// The command that moves files out of the directory, and never replaces a file that was moved before.
  func movingAside(_ paths: [String]) -> String {
    let parent = PathParts(directory)?.directory ?? "\(directory)/.."
    let target = ShellWord.path(parent == "." ? Self.aside : parent == "/" ? "/\(Self.aside)" : "\(parent)/\(Self.aside)")
    return "mkdir -p \(target) && mv -n \(paths.map(ShellWord.path).joined(separator: " ")) \(target)/"
  }

  /// The directory beside that of the release.
  private static let aside = "outside-of-release"
}
