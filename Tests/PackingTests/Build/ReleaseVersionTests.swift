import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate
@testable import PackProject

/// Versions follow from the lock file. They are never typed by hand.
@Suite("Versions", .bounded)
struct ReleaseVersionTests {
  @Test("and all bytes stay the same if nothing changes after a release, even in a new directory and at any time")
  func unchanged() async throws {
    let project = try ReleaseProject()
    try await project.build(on: 1)
    try project.record()
    let before = project.contents()
    try await project.build(on: 20, isFixed: false)
    #expect(project.contents() == before)
    try project.remove("dist")
    let report = try await project.build(on: 30)
    #expect(report.ids(.packed).count == 5)
    #expect(project.contents() == before)
  }

  @Test("of a changed pack and of the manifest rise by one, however often they are built before the release")
  func changed() async throws {
    let project = try ReleaseProject()
    try await project.build()
    try project.record()
    for content in [[1], [2], [3]] as [[UInt8]] {
      try project.add("movie/intro.mp4", content)
      try await project.build(on: 2)
      let manifest = try project.manifest()
      #expect(manifest.version == 2)
      #expect(try project.packs().map(\.version) == [1, 1, 1, 2, 1])
    }
    try project.record()
    try project.add("movie/intro.mp4", [4])
    try await project.build(on: 3)
    #expect(try project.manifest().version == 3)
    #expect(try project.pack("movie")?.version == 3)
  }

  @Test("never fall below those of the release in dist if the lock file is lost or old")
  func lostLock() async throws {
    let project = try ReleaseProject()
    try await project.build()
    try project.record(keepsPacks: true)
    try project.add("movie/intro.mp4", [1])
    try await project.build(on: 2)
    try project.record(keepsPacks: true)
    let old = try #require(project.directory.bytes(of: "packer.lock.json"))
    try project.add("movie/intro.mp4", [2])
    try await project.build(on: 3)
    try project.record(keepsPacks: true)
    let before = try project.manifest()
    #expect(before.version == 3)

    try project.remove("packer.lock.json")
    let same = try await project.build(on: 4)
    #expect(try project.manifest() == before)
    #expect(same.remarks.contains { $0.isWarning && $0.message.contains("packer.lock.json does not know") })
    try project.add("movie/intro.mp4", [3])
    try await project.build(on: 5)
    #expect(try project.manifest().version == 4)
    #expect(try project.pack("movie")?.version == 4)

    try project.directory.write(old, to: "packer.lock.json")
    try project.add("movie/intro.mp4", [4])
    try await project.build(on: 6)
    #expect(try project.manifest().version == 5)
    #expect(try project.pack("movie")?.version == 5)
  }

  @Test("that the lock file has more than 2^32 above those of the release in dist are refused, of the manifest and of packs")
  func jump() async throws {
    let project = try ReleaseProject()
    try await project.build()
    try project.record()
    let lock = String(decoding: try #require(project.directory.bytes(of: "packer.lock.json")), as: UTF8.self)
    for (from, to) in [("\"manifestVersion\": 1", "\"manifestVersion\": 4294967298"), ("\"version\": 1", "\"version\": 9007199254740990")] {
      let changed = lock.replacing(from, with: to, maxReplacements: 1)
      #expect(changed != lock)
      try project.directory.write(Array(changed.utf8), to: "packer.lock.json")
      try project.add("movie/intro.mp4", [7])
      let before = project.contents()
      await #expect { try await project.build(on: 2) } throws: { ($0 as? PackError)?.code == .invalidRecord }
      #expect(project.contents() == before)
    }
    let last = lock.replacing("\"manifestVersion\": 1", with: "\"manifestVersion\": 4294967297")
    try project.directory.write(Array(last.utf8), to: "packer.lock.json")
    try await project.build(on: 2)
    #expect(try project.manifest().version == 4_294_967_298)
  }

  @Test("are not made up if packer.yml requires a lock file and there is none")
  func requiredLock() async throws {
    let project = try ReleaseProject()
    try project.configure(ReleaseProject.configuration + "lock: required\n")
    let error = await #expect(throws: PackError.self) { try await project.build() }
    #expect(error?.code == .missingLock && error?.description.contains("git restore") == true)
    #expect(project.contents().isEmpty)
    try project.directory.write(Array("{\"apps\": [], \"version\": 1}\n".utf8), to: "packer.lock.json")
    try await project.build()
    #expect(try project.manifest().version == 1)
  }

  @Test("return to the released ones if a change is undone")
  func changedBack() async throws {
    let project = try ReleaseProject()
    try await project.build()
    try project.record()
    let before = project.contents()
    let movie = try #require(project.directory.bytes(of: "build/movie/intro.mp4"))
    try project.add("movie/intro.mp4", [1])
    try await project.build(on: 2)
    try project.add("movie/intro.mp4", movie)
    try await project.build(on: 3)
    #expect(project.contents() == before)
  }

  @Test("rise with another install mode, so that devices that have the pack learn of it, and not again after that")
  func installMode() async throws {
    let project = try ReleaseProject()
    try await project.build()
    try project.record()
    try project.configure(ReleaseProject.configuration.replacingOccurrences(of: ", install: packed", with: ""))
    let changed = try await project.build(on: 2)
    #expect(changed.ids(.packed) == ["movie"])
    let pack = try #require(try project.pack("movie"))
    #expect(pack.version == 2 && pack.install == .unpacked)
    try project.record()
    #expect(try project.lock().released?.packs.first { $0.id == "movie" }?.install == .unpacked)
    #expect(try await project.build(on: 3).ids(.packed).isEmpty)
    // A lock file that does not say it changes nothing.
    let lock = String(decoding: try #require(project.directory.bytes(of: "packer.lock.json")), as: UTF8.self)
    try project.directory.write(Array(lock.replacing(#", "install": "unpacked""#, with: "").utf8), to: "packer.lock.json")
    try project.configure(ReleaseProject.configuration)
    #expect(try await project.build(on: 4).ids(.packed).isEmpty)
  }

  @Test("rise with another key, and with other settings")
  func keyAndSettings() async throws {
    let project = try ReleaseProject()
    try await project.build()
    try project.record()
    let rekeyed = try await project.build(key: 7)
    #expect(rekeyed.items.map(\.version) == [2, 2, 2, 2, 2] && rekeyed.items[0].reason == "another key")
    try project.configure(ReleaseProject.configuration + "defaults: {level: fast}\n")
    let faster = try await project.build()
    #expect(faster.items.map(\.version) == [2, 2, 2, 2, 2])
    #expect(faster.release?.manifest.version == 2)
    try project.configure(ReleaseProject.configuration)
    #expect(try await project.build().items.map(\.version) == [1, 1, 1, 1, 1])
  }

  @Test("rise if each pack gets its own key, and if it no longer does")
  func packKeys() async throws {
    let project = try ReleaseProject()
    try await project.build()
    try project.record()
    try project.configure(ReleaseProject.configuration + "perPackKeys: true\n")
    let own = try await project.build(on: 2)
    #expect(own.items.map(\.version) == [2, 2, 2, 2, 2] && own.items.allSatisfy { $0.reason == "another key" })
    #expect(own.release?.manifest.version == 2)
    let ids = own.items.compactMap(\.entry?.keyID)
    let root = try sampleKey()
    #expect(Set(ids).count == 5 && !ids.contains(root.id.description))
    for item in own.items { #expect(try item.entry?.keyID == root.packKey(for: PackName(item.id)).id.description) }
    let again = try await project.build(on: 3)
    #expect(again.ids(.reused).count == 5 && again.release?.manifest.packs.map(\.sha256) == own.release?.manifest.packs.map(\.sha256))
    // Another root key gives other pack keys.
    #expect(try await project.build(on: 4, key: 7).items.map(\.reason).allSatisfy { $0 == "another key" })
    try await project.build(on: 2)
    try project.record()
    #expect(try await project.build(on: 5) { $0.wanted = ["core"] }.ids(.kept).count == 4)
    try project.configure(ReleaseProject.configuration)
    #expect(try await project.build(on: 6).items.map(\.version) == [3, 3, 3, 3, 3])
    try project.configure(ReleaseProject.configuration + "perPackKeys: true\n")
    let error = await #expect(throws: PackError.self) { try await project.build(on: 7) { $0.wanted = ["core"] } }
    #expect(error?.code == .wrongKey && error?.advice?.description == "build all packs: packer build")
  }

  @Test("of packs stay, and that of the manifest rises, if only the manifest changes")
  func manifestAlone() async throws {
    let project = try ReleaseProject()
    try await project.build()
    try project.record()
    try project.configure(ReleaseProject.configuration.replacingOccurrences(of: "name: Core", with: "name: The core"))
    let report = try await project.build(on: 2)
    #expect(report.ids(.reused).count == 5 && report.release?.manifest.version == 2)
    #expect(report.items.map(\.version) == [1, 1, 1, 1, 1])
  }

  @Test("of a pack that was removed continue when it returns")
  func returned() async throws {
    let project = try ReleaseProject()
    try await project.build()
    try project.record()
    let lines = ReleaseProject.configuration.split(separator: "\n")
    try project.configure(lines.filter { !$0.contains("movie") }.joined(separator: "\n"))
    try await project.build(on: 2)
    let lock = try project.record().lock
    #expect(lock.released?.packs.first { $0.id == "movie" }?.isRemoved == true)
    #expect(lock.released?.packs.count == 5)
    try project.configure(ReleaseProject.configuration)
    try await project.build(on: 3)
    #expect(try project.pack("movie")?.version == 2)
    #expect(try project.manifest().version == 3)
    #expect(try project.record().lock.released?.packs.first { $0.id == "movie" }?.isRemoved == false)
  }

  @Test("rise once, with a note, if the bytes differ although nothing changed")
  func otherLibrary() async throws {
    let project = try ReleaseProject()
    try await project.build()
    var lock = try project.record().lock
    let index = try #require(lock.released?.packs.firstIndex { $0.id == "movie" })
    lock.released?.packs[index].sha256 = [UInt8](repeating: 7, count: 32)
    try lock.write(to: project.directory("packer.lock.json"))
    let report = try await project.build(on: 2)
    #expect(report.ids(.packed) == ["movie"] && report.items[3].version == 2)
    // Nothing was kept in 'released' by these recordings, which is another remark.
    func others(_ report: ReleaseBuildReport) -> [ReleaseBuildReport.Remark] {
      report.remarks.filter { !$0.message.contains("has no record") && !$0.message.contains("released lacks movie-07") }
    }
    let remarks = others(report)
    #expect(remarks.map(\.isWarning) == [false])
    #expect(remarks.first?.message.contains("it becomes version 2") == true)
    // The next build accepts the new version.
    let before = project.contents()
    let again = try await project.build(on: 2)
    #expect(again.ids(.packed) == [] && others(again).isEmpty)
    #expect(project.contents() == before)
    try project.record()
    #expect(try await project.build(on: 3).items[3].version == 2)
  }

  @Test("of a renewal that is not released yet are kept by a build that changes nothing", arguments: [true, false])
  func renewalIsKept(isFixed: Bool) async throws {
    let project = try ReleaseProject()
    try await project.build(on: 1)
    try project.record()
    try await project.build(on: 100, isFixed: isFixed) { $0.renews = true }
    let renewed = project.contents()
    try await project.build(on: 101, isFixed: isFixed)
    #expect(project.contents() == renewed)
    #expect(try project.manifest().version == 2)
  }

  @Test("come with a warning if a renewal does not expire later, or if the manifest has expired by the clock")
  func renewalOfNothing() async throws {
    let project = try ReleaseProject()
    try await project.build(on: 1)
    try project.record()
    let same = try await project.build(on: 1) { $0.renews = true }
    #expect(same.remarks.contains { $0.isWarning && $0.message.contains("no later than the released one") })
    let late = try await project.build(on: 2) { build in
      build.renews = true
      build.time = BuildTime(build.time.now, isFixed: true, clock: ReleaseProject.time(400, isFixed: true).now)
    }
    #expect(late.remarks.contains { $0.isWarning && $0.message.contains("expired at") && $0.hint?.contains("--renew") == true })
  }

  @Test("of the manifest rise with a renewal, and those of packs stay")
  func renewed() async throws {
    let project = try ReleaseProject()
    try await project.build(on: 1)
    try project.record()
    let report = try await project.build(on: 100) { $0.renews = true }
    #expect(report.ids(.reused).count == 5)
    let manifest = try project.manifest()
    #expect(manifest.version == 2 && manifest.issued == ReleaseProject.time(100).now)
    #expect(manifest.expires == ReleaseProject.time(280).now)
  }

  @Test(
    "come with a warning near the expiry", arguments: [(100, nil), (149, nil), (152, "expires"), (181, "expired")] as [(Int64, String?)])
  func nearEnd(day: Int64, word: String?) async throws {
    let project = try ReleaseProject()
    try await project.build(on: 1)
    try project.record()
    let remark = try await project.build(on: day).remarks.first { !$0.message.contains("has no record") }
    #expect((remark != nil) == (word != nil))
    if let word {
      #expect(
        remark?.message.contains(word) == true && remark?.hint?.hasSuffix("packer build --renew") == true && remark?.isWarning == true)
    }
  }

  @Test("of packs that are kept must match the lock file")
  func keptAfterRelease() async throws {
    let project = try ReleaseProject()
    try await project.build()
    var lock = try project.record().lock
    let index = try #require(lock.released?.packs.firstIndex { $0.id == "movie" })
    for change in [{ $0.version = 2 }, { $0.sha256 = [UInt8](repeating: 7, count: 32) }, { $0.isRemoved = true }]
      as [(inout ReleaseLock.Pack) -> Void]
    {
      let original = try #require(lock.released?.packs[index])
      change(&lock.released!.packs[index])
      try lock.write(to: project.directory("packer.lock.json"))
      #expect(await project.refusal { $0.wanted = ["core"] }?.code == .releaseConflict)
      lock.released?.packs[index] = original
    }
    try lock.write(to: project.directory("packer.lock.json"))
    #expect(await project.refusal { $0.wanted = ["core"] } == nil)
  }
}

@Suite("Recording a release", .bounded)
struct ReleaseRecordingTests {
  private func app(_ project: ReleaseProject, _ version: String, plist: String = "dist/Info.fragment.plist") throws -> ReleaseRecording.App
  {
    ReleaseRecording.App(version: version, plists: [.init(try InfoPlist.read(project.directory(plist)))])
  }

  @Test("records an app whose packs Apple serves without budget, hosts and manifest URL")
  func servedByApple() async throws {
    let project = try ReleaseProject(ReleaseProject.configuration + "hosting: apple\n")
    try await project.build()
    let report = try project.record(try app(project, "3.0"))
    let app = try #require(report.lock.apps.first)
    #expect(app.budget == nil && app.hosts == nil && app.manifestURL == nil && app.trustedKeys.count == 1)
    #expect(try ReleaseLock.read(project.directory("packer.lock.json")) == report.lock)
    #expect(try project.record(try self.app(project, "3.0")).isUnchanged)
    // File systems that ignore case would keep only one of the two files.
    try project.record(try self.app(project, "3.0b"))
    let error = #expect(throws: PackError.self) { try project.record(try self.app(project, "3.0B")) }
    #expect(error?.code == .releaseConflict && error?.message.contains("is recorded as 3.0b") == true)
  }

  @Test("refuses a build record that does not match the manifest and the files")
  func changedRecord() async throws {
    let project = try ReleaseProject()
    try await project.build()
    let path = "dist/build.json"
    let bytes = try #require(project.directory.bytes(of: path))
    let text = String(decoding: bytes, as: UTF8.self)
    try project.directory.write(text.replacing("\"version\": 1", with: "\"version\": 9", maxReplacements: 2).utf8, to: path)
    #expect(throws: PackError.self) { try project.record() }
    try project.directory.write(bytes, to: path)

    let pack = try #require(project.directory.names(in: "dist").first { $0.hasSuffix(".pack") })
    var damaged = try #require(project.directory.bytes(of: "dist/\(pack)"))
    damaged[damaged.count / 2] ^= 1
    try project.directory.write(damaged, to: "dist/\(pack)")
    let error = #expect(throws: PackError.self) { try project.record() }
    #expect(error?.code == .releaseConflict && error?.message.contains("SHA-256") == true)
    #expect(project.directory.bytes(of: "packer.lock.json") == nil)
  }

  @Test("refuses a manifest that is signed by an untrusted key")
  func foreignSigner() async throws {
    let project = try ReleaseProject()
    try await project.build()
    var recording = ReleaseRecording(dist: project.directory("dist"), lockPath: project.directory("packer.lock.json"))
    recording.trustedKeys = [try ReleaseProject.signingKey(5).publicKey]
    let error = #expect(throws: PackError.self) { try recording.record() }
    #expect(error?.code == .untrustedSignature)
  }

  @Test("refuses a number that a lock file cannot hold, and an invalid version")
  func unfitApp() async throws {
    let project = try ReleaseProject()
    try await project.build()
    let text = String(decoding: try #require(project.directory.bytes(of: "dist/Info.fragment.plist")), as: UTF8.self)
    let number = try #require(text.firstMatch(of: /<key>BAMaxInstallSize<\/key>\s*<integer>([0-9]+)/)?.output.1)
    try project.directory.write(text.replacing(number, with: "9007199254740993").utf8, to: "huge.plist")
    let error = try #require(throws: PackError.self) { try project.record(try app(project, "3", plist: "huge.plist")) }
    #expect(error.code == .releaseConflict && error.message.contains("9007199254740991"))
    for version in ["", "$(id)", "2 0", "2.0\"", String(repeating: "1", count: 65)] {
      #expect(throws: PackError.self, "\(version)") { try project.record(try app(project, version)) }
    }
    #expect(project.directory.bytes(of: "packer.lock.json") == nil)
  }

  @Test("several times at once loses no recording")
  func atOnce() async throws {
    let project = try ReleaseProject()
    try await project.build()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<6 {
        group.addTask { _ = try project.record(try app(project, "2.\(number)")) }
      }
      try await group.waitForAll()
    }
    #expect(try project.lock().apps.map(\.version) == (0..<6).map { "2.\($0)" })
  }

  @Test("puts all versions in one total order")
  func order() {
    let versions = ["1.9", "1.10", "1.1a", "1.b", "2", "2.0"]
    for (low, left) in versions.enumerated() {
      for (high, right) in versions.enumerated() { #expect(ReleaseLock.isLower(left, right) == (low < high), "\(left) \(right)") }
    }
  }

  @Test("records manifest and packs, and changes nothing the second time")
  func release() async throws {
    let project = try ReleaseProject()
    try await project.build()
    let report = try project.record()
    #expect(!report.isUnchanged)
    let released = try #require(try project.lock().released)
    let manifest = try project.manifest()
    #expect(released.manifestVersion == 1 && released.expires == manifest.expires)
    #expect(try released.packs.map(\.sha256) == project.packs().map(\.sha256))
    #expect(released.packs.map(\.settings).allSatisfy { $0 == "format=1.0 level=balanced frame=2097152 segment=65536" })
    let bytes = project.directory.bytes(of: "packer.lock.json")
    #expect(try project.record().isUnchanged)
    #expect(project.directory.bytes(of: "packer.lock.json") == bytes)
  }

  @Test("refuses a release that contradicts the lock file, and leaves the file unchanged")
  func conflicts() async throws {
    let project = try ReleaseProject()
    #expect(throws: PackError.self) { try project.record() }
    try await project.build()
    var lock = try project.record().lock
    let good = lock
    let bad: [(inout ReleaseLock) -> Void] = [
      { $0.released?.manifestVersion = 2 }, { $0.released?.signedDigest = [UInt8](repeating: 1, count: 32) },
      { $0.released?.packs[0].version = 2 }, { $0.released?.packs[0].sha256 = [UInt8](repeating: 1, count: 32) },
    ]
    for change in bad {
      lock = good
      change(&lock)
      try lock.write(to: project.directory("packer.lock.json"))
      let error = #expect(throws: PackError.self) { try project.record() }
      #expect(error?.code == .releaseConflict)
      #expect(try project.lock() == lock)
    }
  }

  @Test("refuses a release that is not the one that was built")
  func changedRelease() async throws {
    let project = try ReleaseProject()
    try await project.build()
    let good = project.contents()
    for name in good.keys where name.hasSuffix(".pack") || name == "manifest.json" {
      try project.directory.write((good[name] ?? []) + [1], to: "dist/\(name)")
      #expect(throws: PackError.self, "\(name)") { try project.record() }
      try project.directory.write(good[name] ?? [], to: "dist/\(name)")
    }
    let other = try ReleaseProject()
    try await other.build(on: 9)
    try project.directory.write(other.directory.bytes(of: "dist/manifest.json") ?? [], to: "dist/manifest.json")
    #expect(throws: PackError.self) { try project.record() }
    #expect(project.directory.bytes(of: "packer.lock.json") == nil)
  }

  @Test("with an app records its budget, hosts and keys, and orders versions by their numbers")
  func apps() async throws {
    let project = try ReleaseProject()
    try await project.build()
    for version in ["2.10.0", "2.9.1", "2.9"] { try project.record(try app(project, version)) }
    let lock = try project.lock()
    #expect(lock.apps.map(\.version) == ["2.9", "2.9.1", "2.10.0"])
    let app = try #require(lock.apps.first)
    #expect(app.budget == (try project.manifest().budget))
    #expect(app.hosts == ["cdn.example.com"] && app.manifestURL == "https://cdn.example.com/packs/manifest.json")
    #expect(app.trustedKeys == [try ReleaseProject.signingKey(0).publicKey.text])
    #expect(app.keyIDs == [try sampleKey().id.description] && app.format == "1.0" && app.firstManifest == 1)
    #expect(try ReleaseRecording.retire("2.9.1", lockPath: project.directory("packer.lock.json")).lock.apps[1].isRetired)
    #expect(try project.lock().apps.map(\.isRetired) == [false, true, false])
    #expect(try ReleaseRecording.retire("2.9.1", lockPath: project.directory("packer.lock.json")).isUnchanged)
    #expect(throws: PackError.self) { try ReleaseRecording.retire("3", lockPath: project.directory("packer.lock.json")) }
  }

  @Test("with an app records the root key if each pack has its own key, so that the app can open packs that are added later")
  func rootKey() async throws {
    let project = try ReleaseProject(ReleaseProject.configuration + "perPackKeys: true\n")
    try await project.build()
    let root = try sampleKey().id.description
    let lock = try project.record(try app(project, "2.1.0")).lock
    #expect(lock.apps.map(\.keyIDs) == [[root]] && lock.released?.rootKeyID == root)
    #expect(try project.lock() == lock)
    #expect(try BuildRecord.read(in: project.directory("dist")).rootKeyID == root)
    try project.add("games/chess/index.html", Array("<title>chess</title>".utf8))
    try await project.build(on: 2)

    func findings(key: UInt8?, isQuick: Bool = false) async throws -> Set<String> {
      var verification = ReleaseVerification(project.directory("dist"), now: ReleaseProject.time(2).now)
      verification.configuration = try PackerConfiguration.read(project.directory("packer.yml"))
      verification.lock = project.directory("packer.lock.json")
      verification.trusted = TrustedKeys([try ReleaseProject.signingKey(0).publicKey])
      verification.only = ["PK100", "PK200", "PK3010"]
      verification.isQuick = isQuick || key == nil
      let report =
        if let key {
          try await verification.run(key: Shared(try TestSupport.key(filledFrom: key)))
        } else {
          try await verification.run(key: nil)
        }
      return Set(report.findings.map(\.rule.id))
    }
    #expect(try await findings(key: 0) == [])
    #expect(try await findings(key: 0, isQuick: true) == [])
    #expect(try await findings(key: nil) == ["PK1002"])
    #expect(try await findings(key: 9) == ["PK1001"])
    // Without the build record and the key, only the packs in the lock file are known.
    try project.remove("dist/build.json")
    #expect(try await findings(key: 0) == [])
    #expect(try await findings(key: nil).contains("PK3010"))
    // Without the setting, the release does not match the configuration.
    try project.configure(ReleaseProject.configuration)
    #expect(try await findings(key: 0) == ["PK1004"])
    // The app has no keys that are derived from another root key.
    try project.configure(ReleaseProject.configuration + "perPackKeys: true\n")
    try project.remove("dist")
    try await project.build(on: 3, key: 9)
    #expect(try await findings(key: 9) == ["PK3010"])
  }

  @Test("never changes an app version that was released")
  func sameApp() async throws {
    let project = try ReleaseProject()
    try await project.build()
    try project.record(try app(project, "2.1.0"))
    let before = project.directory.bytes(of: "packer.lock.json")
    #expect(try project.record(try app(project, "2.1.0")).isUnchanged)
    var text = String(decoding: project.directory.bytes(of: "dist/Info.fragment.plist") ?? [], as: UTF8.self)
    let size = try #require(try project.manifest().budget).downloadAllowance
    text = text.replacingOccurrences(of: "<integer>\(size)</integer>", with: "<integer>\(size + 1)</integer>")
    try project.directory.write(text.utf8, to: "Other.plist")
    let other = try app(project, "2.1.0", plist: "Other.plist")
    let error = #expect(throws: PackError.self) { try project.record(other) }
    #expect(error?.code == .releaseConflict)
    #expect(
      error?.message == "app 2.1.0: BADownloadAllowance is recorded as \(size) bytes, but this Info.plist says \(size + 1)")
    #expect(project.directory.bytes(of: "packer.lock.json") == before)
    // A later manifest does not change the first manifest of that version.
    try project.add("movie/intro.mp4", [1])
    try await project.build(on: 2)
    let fragment = try #require(before)
    try project.directory.write(fragment, to: "packer.lock.json")
    #expect(try project.record().lock.apps.first?.firstManifest == 1)
  }

  @Test("refuses an Info.plist that lacks a key", arguments: ["<key>BAMaxInstallSize</key>", "<key>BAManifestURL</key>"])
  func incomplete(key: String) async throws {
    let project = try ReleaseProject()
    try await project.build()
    let text = String(decoding: project.directory.bytes(of: "dist/Info.fragment.plist") ?? [], as: UTF8.self)
    try project.directory.write(text.replacingOccurrences(of: key, with: "<key>Another</key>").utf8, to: "Other.plist")
    let incomplete = try app(project, "2.1.0", plist: "Other.plist")
    #expect(throws: PackError.self) { try project.record(incomplete) }
    #expect(project.directory.bytes(of: "packer.lock.json") == nil)
  }
}
