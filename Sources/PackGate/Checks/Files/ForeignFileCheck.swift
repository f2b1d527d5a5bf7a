import PackProject

/// PK2018.
enum ForeignFileCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK2018", "a file in the directory does not belong to the release", needs: [.manifest],
    what: """
      The directory that goes up holds the manifest, its packs and what 'packer build' writes beside them, and nothing else: no plain \
      content, no notes, no keys. What the system leaves by itself, such as .DS_Store, is a warning.
      """,
    onPhone: "No device reads the file, but everybody can: it is uploaded in the clear.",
    remedy: "Move it out of the directory, or upload only the files of the release.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    release.foreign.map { foreign in
      let files = foreign.count == 1 ? "1 file" : "\(foreign.count) files"
      var message = "\(foreign.path) is not part of the release (\(foreign.junk ?? "\(files), \(SizeText.short(foreign.size))"))"
      if foreign.copyCount > 0 {
        message += ", and holds \(foreign.copyCount == 1 ? "a file" : "\(foreign.copyCount) files") of its packs in the clear"
      }
      return finding(
        message, level: foreign.junk == nil ? .error : .warning, file: foreign.path,
        details: foreign.copies
          + (foreign.copyCount > foreign.copies.count ? ["and \(foreign.copyCount - foreign.copies.count) more"] : []),
        hint: "mv \(ShellWord.path(foreign.path)) elsewhere")
    }
  }
}
