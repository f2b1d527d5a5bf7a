import Testing

@testable import PackProject

@Suite("Files that no player needs")
struct UnneededFilesTests {
  /// Paths, and the pattern that each is found by, or nil for files that a game may need.
  private static let cases: [(path: String, pattern: String?)] = [
    ("packer.yml", "packer.yml"), ("js/app.js.map", "*.js.map"), (".js.map", "*.js.map"), ("js/app.js.map.txt", nil), ("js.map", nil),
    ("art/hero.psd", "*.psd"), ("art/hero.PSD", nil), ("psd", nil), ("types/index.d.ts", "*.d.ts"), ("index.ts", nil),
    ("README", "README"), ("README.md", "README.md"), ("README.txt", nil), ("docs/READMEs", nil), ("Makefile", "Makefile"),
    ("notes.txt~", "*~"), ("~", "*~"), ("~$plan.docx", "~$*"), ("plan~$.docx", nil), (".~lock.plan.odt#", ".~lock.*"),
    (".nfs", ".nfs*"), (".nfs000001", ".nfs*"), ("a.nfs", nil), ("server.log", "*.log"), ("server.log.1", nil),
    ("nohup.out", "nohup.out"),
    // Both the whole name and its end have a rule: the first in the list counts.
    ("webpack.config.js", "webpack.config.js"), (".gitignore", ".gitignore"), ("level.pdb", "*.pdb"), ("é.bak", "*.bak"),
    ("日.log", "*.log"),
    // A rule for a directory counts if it is before that of the name.
    ("node_modules/left-pad/package.json", "node_modules/"), ("node_modules/a.js.map", "*.js.map"), (".svn/entries", ".svn/"),
    ("App.dSYM/Contents/Info.plist", "*.dSYM/"), (".secret/a.png", ".secret/"), ("a/b.png", nil), ("hero.png", nil),
  ]

  @Test("each file is found by the first pattern that matches its name or a directory of it", arguments: cases.indices)
  func patterns(number: Int) {
    let (path, pattern) = Self.cases[number]
    let found = UnneededFiles.find(in: [entry(path, 3)])
    #expect(found.map(\.pattern) == (pattern.map { [$0] } ?? []), "\(path)")
  }

  @Test("files are counted by pattern, the largest first")
  func counts() {
    let found = UnneededFiles.find(in: [entry("a.log", 10), entry("b/c.log", 20), entry("d.psd", 100), entry("e.png", 1000)])
    #expect(found.map(\.pattern) == ["*.psd", "*.log"])
    #expect(found.map(\.files) == [1, 2])
    #expect(found.map(\.contentSize) == [100, 30])
  }

  private func entry(_ path: String, _ size: UInt64) -> SourceEntry {
    SourceEntry(
      path: path, kind: .file, size: size,
      stamp: FileStamp(
        FileStatus(kind: .file, size: size, mode: 0o644, device: 1, inode: 1, linkCount: 1, modified: 0, changed: 0)))
  }
}
