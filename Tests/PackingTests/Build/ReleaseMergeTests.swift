import TestSupport
import Testing

@testable import PackBuild
@testable import PackProject

@Suite("A lock file after a merge")
struct ReleaseMergeTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private static func digest(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

  private static func pack(_ id: String, _ version: UInt64, _ seed: UInt8, isRemoved: Bool = false) -> ReleaseLock.Pack {
    ReleaseLock.Pack(
      id: id, version: version, size: 70, sha256: digest(seed), contentRoot: digest(seed), keyID: "0011223344556677", settings: "balanced",
      created: ManifestTime("2026-11-01T00:00:00Z")!, isRemoved: isRemoved)
  }

  private static func lock(
    manifest: UInt64, _ seed: UInt8, day: Int = 1, packs: [ReleaseLock.Pack], apps: [ReleaseLock.App] = []
  ) throws -> ReleaseLock {
    let time = try #require(ManifestTime("2026-11-0\(day)T00:00:00Z"))
    return ReleaseLock(
      released: ReleaseLock.Release(
        manifestVersion: manifest, signedDigest: digest(seed), contentDigest: digest(seed), issued: time, expires: time, packs: packs,
        recorded: RecordOrigin(time: time, by: "https://ci.example/\(seed)", commit: "c\(seed)")),
      apps: apps)
  }

  private static func app(_ version: String, host: String = "a.example", isRetired: Bool = false, day: Int = 1) -> ReleaseLock.App {
    ReleaseLock.App(
      version: version, budget: nil, hosts: [host], manifestURL: nil, trustedKeys: [], keyIDs: [], format: "1.0", firstManifest: 1,
      isRetired: isRetired, recorded: RecordOrigin(time: ManifestTime("2026-11-0\(day)T00:00:00Z")!))
  }

  /// What git leaves if every line differs.
  private static func conflict(_ ours: [UInt8], _ theirs: [UInt8], base: [UInt8]? = nil, lineEnd: String = "\n") -> [UInt8] {
    let middle = base.map { Array("||||||| 1234567\(lineEnd)".utf8) + $0 } ?? []
    return Array("<<<<<<< HEAD\(lineEnd)".utf8) + ours + middle + Array("=======\(lineEnd)".utf8) + theirs
      + Array(">>>>>>> feature\(lineEnd)".utf8)
  }

  private func resolve(_ ours: ReleaseLock, _ theirs: ReleaseLock, base: ReleaseLock? = nil) throws -> ReleaseResolution.Report {
    try directory.write(Self.conflict(ours.document, theirs.document, base: base?.document), to: "packer.lock.json")
    return try ReleaseResolution(lockPath: directory("packer.lock.json")).run()
  }

  @Test("with conflict markers is named as that, with the line and both sides")
  func markers() throws {
    let lock = try Self.lock(manifest: 1, 1, packs: [])
    try directory.write([0x0A] + Self.conflict(lock.document, lock.document), to: "packer.lock.json")
    let path = directory("packer.lock.json")
    let error = #expect(throws: PackError.self) { try ReleaseLock.read(path) }
    #expect(error?.code == .unmergedRecord)
    #expect(error?.message == "\(path):2: a merge left conflict markers: HEAD and feature")
    #expect(error?.advice?.description == "packer release resolve")
  }

  @Test("gives both sides of every style of markers, and nothing for text without a complete set")
  func sides() throws {
    for end in ["\n", "\r\n"] {
      for base in [nil, Array("base\n".utf8)] {
        let text = Array("a\n".utf8) + Self.conflict(Array("b\n".utf8), Array("c\n".utf8), base: base, lineEnd: end) + Array("d".utf8)
        let conflict = try #require(MergeConflict(text))
        #expect(conflict.line == 2)
        #expect(conflict.names == ("HEAD", "feature"))
        #expect(String(decoding: conflict.ours, as: UTF8.self) == "a\nb\nd\n")
        #expect(String(decoding: conflict.theirs, as: UTF8.self) == "a\nc\nd\n")
      }
    }
    for text in ["", "<<<<<<< a\n", "<<<<<<< a\n=======\n", "=======\n>>>>>>> b\n", "<<<<<<<<a\n========\n>>>>>>>>b\n", "a <<<<<<< \n"] {
      #expect(MergeConflict(Array(text.utf8)) == nil, "\(text)")
    }
  }

  @Test("keeps the higher versions, and says what went out twice; a build then makes versions after both")
  func twice() throws {
    let ours = try Self.lock(manifest: 6, 1, day: 2, packs: [Self.pack("core", 3, 1), Self.pack("kart", 2, 2), Self.pack("poker", 4, 3)])
    let theirs = try Self.lock(manifest: 6, 2, day: 3, packs: [Self.pack("core", 3, 9), Self.pack("kart", 5, 8), Self.pack("zoo", 1, 7)])
    for base in [nil, try Self.lock(manifest: 5, 3, packs: [])] {
      let report = try resolve(ours, theirs, base: base)
      #expect(report.resolved == [directory("packer.lock.json")])
      #expect(
        report.remarks.map(\.message) == [
          "manifest 6 went out twice: issued 2026-11-02T00:00:00Z (recorded 2026-11-02T00:00:00Z, https://ci.example/1, commit c1) and "
            + "issued 2026-11-03T00:00:00Z (recorded 2026-11-03T00:00:00Z, https://ci.example/2, commit c2)",
          "pack 'core' version 3 went out twice: SHA-256 0909090909090909… and 0101010101010101…; the next build makes version 4",
          "pack 'kart' went out as version 2 and 5: 5 stays",
        ])
      #expect(report.remarks.map(\.wentOutTwice) == [true, true, false])
      let released = try #require(report.lock.released)
      #expect(released.manifestVersion == 6)
      #expect(released.contentDigest == [UInt8](repeating: 0, count: 32))
      #expect(released.packs.map(\.id) == ["core", "kart", "poker", "zoo"])
      #expect(released.packs.map(\.version) == [3, 5, 4, 1])
      #expect(released.packs[0].contentRoot == [UInt8](repeating: 0, count: 32))
      #expect(released.packs[1] == Self.pack("kart", 5, 8))
      #expect(try ReleaseLock.read(directory("packer.lock.json")) == report.lock)
    }
  }

  @Test("takes the higher manifest if the sides released different ones, and both are named")
  func higher() throws {
    let ours = try Self.lock(manifest: 7, 1, packs: [Self.pack("core", 3, 1, isRemoved: true)])
    let theirs = try Self.lock(manifest: 6, 2, packs: [Self.pack("core", 3, 1)])
    let report = try resolve(ours, theirs)
    #expect(report.remarks.map(\.wentOutTwice) == [false])
    #expect(report.remarks[0].message.hasPrefix("manifest 7, issued "))
    #expect(report.lock.released?.manifestVersion == 7)
    #expect(report.lock.released?.packs == [Self.pack("core", 3, 1)])
    #expect(try resolve(theirs, ours).lock.released?.packs == [Self.pack("core", 3, 1)])
  }

  @Test("keeps what an earlier merge found to be out twice")
  func earlierMerge() throws {
    var merged = try Self.lock(manifest: 6, 1, packs: [Self.pack("core", 3, 1)])
    let other = merged
    merged.released?.contentDigest = [UInt8](repeating: 0, count: 32)
    merged.released?.packs[0].contentRoot = [UInt8](repeating: 0, count: 32)
    for (ours, theirs) in [(merged, other), (other, merged)] { #expect(try resolve(ours, theirs).lock == merged) }
  }

  @Test("is unchanged if there is nothing to resolve")
  func nothing() throws {
    let lock = try Self.lock(manifest: 6, 1, packs: [Self.pack("core", 3, 1)], apps: [Self.app("1.0")])
    try lock.write(to: directory("packer.lock.json"))
    let report = try ReleaseResolution(lockPath: directory("packer.lock.json")).run()
    #expect(report.resolved == [])
    #expect(report.lock == lock)
    #expect(directory.bytes(of: "packer.lock.json") == lock.document)
  }

  @Test("needs a decision if both sides recorded an app version differently, and nothing is changed before it")
  func apps() throws {
    var lock = try Self.lock(manifest: 6, 1, packs: [], apps: [Self.app("1.0"), Self.app("2.0")])
    try lock.write(to: directory("packer.lock.json"))
    let (ours, theirs) = (Self.app("2.0", host: "a.example"), Self.app("2.0", host: "b.example", isRetired: true))
    let text = Self.conflict(ours.record.document, theirs.record.document)
    try directory.write(text, to: "packer.apps/2.0.json")
    var resolution = ReleaseResolution(lockPath: directory("packer.lock.json"))
    let error = #expect(throws: PackError.self) { try resolution.run() }
    #expect(error?.code == .releaseConflict)
    #expect(
      error?.message
        == "app 2.0 was recorded on both sides with different values: hosts is [\"a.example\"] in ours (HEAD) and [\"b.example\"] in theirs (feature)"
    )
    #expect(error?.advice?.description.hasSuffix("packer release resolve --take 2.0=ours or --take 2.0=theirs") == true)
    // A side for an app that is not there is no answer.
    resolution.side = .ours
    resolution.sides = ["3.0": .theirs]
    #expect(#expect(throws: PackError.self) { try resolution.run() }?.code == .usage)
    #expect(directory.bytes(of: "packer.apps/2.0.json") == text)
    for (side, kept) in [(ReleaseResolution.Side.ours, ours), (.theirs, theirs)] {
      try directory.write(text, to: "packer.apps/2.0.json")
      // What is said of this version counts more.
      resolution.side = side == .ours ? .theirs : .ours
      resolution.sides = ["2.0": side]
      let report = try resolution.run()
      #expect(report.resolved == [directory("packer.apps/2.0.json")])
      #expect(report.remarks.map(\.name) == ["2.0"])
      lock.apps[1] = kept
      #expect(report.lock == lock)
      #expect(try ReleaseLock.read(directory("packer.lock.json")) == lock)
    }
  }

  @Test("keeps an app version that both sides recorded alike, with the earlier note, and retired if one side retired it")
  func sameApp() throws {
    let lock = try Self.lock(manifest: 6, 1, packs: [], apps: [Self.app("2.0")])
    try lock.write(to: directory("packer.lock.json"))
    try directory.write(
      Self.conflict(Self.app("2.0", isRetired: true, day: 3).record.document, Self.app("2.0", day: 2).record.document),
      to: "packer.apps/2.0.json")
    let report = try ReleaseResolution(lockPath: directory("packer.lock.json")).run()
    #expect(report.remarks.map(\.message) == ["app 2.0 is retired on one side only: it stays retired"])
    #expect(report.lock.apps == [Self.app("2.0", isRetired: true, day: 2)])
  }

  @Test("keeps every version that one of the two sides of an app version follows")
  func follows() throws {
    let apps = ["1.0", "1.1", "1.2"].map { Self.app($0) }
    try Self.lock(manifest: 6, 1, packs: [], apps: apps).write(to: directory("packer.lock.json"))
    var (ours, theirs) = (Self.app("2.0"), Self.app("2.0"))
    (ours.follows, theirs.follows) = (["1.0", "1.2"], ["1.0", "1.1"])
    try directory.write(Self.conflict(ours.record.document, theirs.record.document), to: "packer.apps/2.0.json")
    let report = try ReleaseResolution(lockPath: directory("packer.lock.json")).run()
    #expect(report.lock.apps.last?.follows == ["1.0", "1.1", "1.2"])
  }

  @Test("with only some markers is named as that, and stays", arguments: ["<<<<<<< HEAD", "=======", ">>>>>>> feature"])
  func incomplete(marker: String) throws {
    let text = try Self.lock(manifest: 6, 1, packs: []).document + Array("\(marker)\n".utf8)
    try directory.write(text, to: "packer.lock.json")
    let path = directory("packer.lock.json")
    for act in [{ _ = try ReleaseLock.read(path) }, { _ = try ReleaseResolution(lockPath: path).run() }] {
      let error = #expect(throws: PackError.self, performing: act)
      #expect(error?.code == .unmergedRecord)
      #expect(error?.message.contains("this line is a conflict marker of a merge, but not all markers are there") == true)
    }
    #expect(directory.bytes(of: "packer.lock.json") == text)
  }

  @Test("that is missing beside app versions is not resolved, but has to be restored")
  func lost() throws {
    try Self.lock(manifest: 6, 1, packs: [], apps: [Self.app("1.0")]).write(to: directory("packer.lock.json"))
    try SystemFiles().remove(directory("packer.lock.json"), .file, in: nil)
    let error = #expect(throws: PackError.self) { try ReleaseResolution(lockPath: directory("packer.lock.json")).run() }
    #expect(error?.code == .missingLock)
    #expect(error?.advice?.description.hasPrefix("git restore \(directory("packer.lock.json")), or ") == true)
  }

  @Test("whose sides cannot be read is refused, and stays")
  func unreadable() throws {
    let lock = try Self.lock(manifest: 6, 1, packs: [])
    let text = Self.conflict(lock.document, Array("{\"version\": 2\n".utf8))
    try directory.write(text, to: "packer.lock.json")
    let error = #expect(throws: PackError.self) { try ReleaseResolution(lockPath: directory("packer.lock.json")).run() }
    #expect(error?.code == .unmergedRecord)
    #expect(error?.message.contains("the side feature of the merge is not readable") == true)
    #expect(directory.bytes(of: "packer.lock.json") == text)
  }
}

@Suite("Who recorded a release")
struct RecordOriginTests {
  @Test(
    "is read in the variables of CI systems, and without any is the user",
    arguments: [
      (
        ["GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "a/b", "GITHUB_RUN_ID": "7", "GITHUB_SHA": "0123", "USER": "me"],
        "https://github.com/a/b/actions/runs/7", "0123"
      ),
      (["CI_JOB_URL": "https://gitlab.example/-/jobs/1", "CI_COMMIT_SHA": "ab"], "https://gitlab.example/-/jobs/1", "ab"),
      (["BUILD_URL": "https://jenkins.example/1/", "GIT_COMMIT": "cd"], "https://jenkins.example/1/", "cd"),
      (
        [
          "SYSTEM_TEAMFOUNDATIONCOLLECTIONURI": "https://dev.azure.com/o/", "SYSTEM_TEAMPROJECT": "p", "BUILD_BUILDID": "9",
          "BUILD_SOURCEVERSION": "ef",
        ], "https://dev.azure.com/o/p/_build/results?buildId=9", "ef"
      ),
      (["USER": "mara"], "mara", nil),
      (["USER": "Łucja"], "Łucja", nil),
      (["USER": "", "LOGNAME": "mara\u{1B}[31m"], nil, nil),
      (["GITHUB_SERVER_URL": "https://x\u{1B}[31m\n", "GITHUB_REPOSITORY": "a/b", "GITHUB_RUN_ID": "7", "USER": "mara"], "mara", nil),
      (["GITHUB_SERVER_URL": "", "GITHUB_REPOSITORY": "", "GITHUB_RUN_ID": "", "USER": "mara"], "mara", nil),
      ([:], nil, nil),
    ] as [([String: String], String?, String?)])
  func current(variables: [String: String], by: String?, commit: String?) throws {
    let time = try #require(ManifestTime("2026-11-01T00:00:00Z"))
    let origin = RecordOrigin.current(time: time) { variables[$0] }
    #expect(origin == RecordOrigin(time: time, by: by, commit: commit))
    #expect(try RecordOrigin(origin.record) == origin)
  }
}
