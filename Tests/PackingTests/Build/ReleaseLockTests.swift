import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackProject

@Suite("The lock file", .bounded)
struct ReleaseLockTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func sample() throws -> ReleaseLock {
    let time = try #require(ManifestTime("2026-11-01T00:00:00Z"))
    let budget = InstallBudget(essentialDownloadAllowance: 1, downloadAllowance: 2, essentialMaxInstallSize: 3, maxInstallSize: 4)
    func digest(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }
    func pack(_ id: String, isRemoved: Bool = false) -> ReleaseLock.Pack {
      ReleaseLock.Pack(
        id: id, version: 3, sha256: digest(1), contentRoot: digest(2), keyID: "0011223344556677", settings: "level=\"9\"\\", created: time,
        isRemoved: isRemoved)
    }
    func app(_ version: String, platform: String? = nil, isRetired: Bool = false) -> ReleaseLock.App {
      ReleaseLock.App(
        version: version, platform: platform, budget: budget, hosts: ["a.example", "ü.example"], manifestURL: "https://a.example/m.json",
        trustedKeys: ["pkp1-x"],
        keyIDs: ["0011223344556677"], format: "1.0", firstManifest: 5, isRetired: isRetired)
    }
    return ReleaseLock(
      released: ReleaseLock.Release(
        manifestVersion: 6, signedDigest: digest(3), contentDigest: digest(4), issued: time, expires: time, rootKeyID: "8899aabbccddeeff",
        packs: [pack("a"), pack("b", isRemoved: true)]),
      apps: [app("1.9", platform: "iOS"), app("1.10", isRetired: true)])
  }

  private func read(_ text: String) throws(PackError) -> ReleaseLock {
    guard let path = try? directory.write(text.utf8, to: "lock") else { throw PackError(.internalError, "no file") }
    return try ReleaseLock.read(path, files: FaultyFiles())
  }

  /// A clock whose waits end at once.
  private struct QuickClock: DeviceClock {
    var secondsSince1970: Int64 { 0 }
  }

  @Test("a second recording waits ten seconds for the first one, and less if it is cancelled")
  func secondRecording() async throws {
    let path = directory("packer.lock.json")
    func wait() -> PackError? {
      do throws(PackError) {
        _ = try RecordingTurn(path, files: SystemFiles(), clock: QuickClock())
        return nil
      } catch {
        return error
      }
    }
    let first = try RecordingTurn(path, files: SystemFiles())
    #expect(wait()?.code == .cannotWrite)
    let cancelled = Task { wait() }
    cancelled.cancel()
    #expect(await cancelled.value?.code == .cancelled)
    withExtendedLifetime(first) {}
  }

  @Test("is read back as it was written, in one form, with one pack or app per line")
  func roundTrip() throws {
    for lock in [ReleaseLock(), try sample()] {
      try lock.write(to: directory("lock"), files: FaultyFiles())
      #expect(try ReleaseLock.read(directory("lock")) == lock)
      #expect(directory.bytes(of: "lock") == lock.document)
    }
    let lines = String(decoding: try sample().document, as: UTF8.self).split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("      {\"id\": ") } == 2)
    #expect(directory.names(in: "packer.apps") == ["1.10.json", "1.9@iOS.json"])
    var shuffled = try sample()
    shuffled.apps.reverse()
    shuffled.released?.packs.reverse()
    #expect(shuffled.document == (try sample().document))
  }

  @Test("that does not exist is an error, or empty if the caller asks for that")
  func missing() throws {
    #expect(#expect(throws: PackError.self) { try ReleaseLock.read(directory("none")) }?.code == .missingInput)
    #expect(try ReleaseLock.readIfPresent(directory("none")) == ReleaseLock())
  }

  @Test("is not taken for a missing one if it, or the folder of its app versions, is a broken link", arguments: ["lock", "packer.apps"])
  func brokenLink(name: String) throws {
    if name != "lock" { try ReleaseLock().write(to: directory("lock"), files: FaultyFiles()) }
    try FileManager.default.createSymbolicLink(atPath: directory(name), withDestinationPath: directory("nowhere"))
    let error = #expect(throws: PackError.self) { _ = try ReleaseLock.readIfPresent(directory("lock"), files: FaultyFiles()) }
    #expect(error?.code == .missingInput)
    #expect(error?.message.contains("is a broken symbolic link") == true)
  }

  @Test("is refused if an app version was shipped with a later manifest than its last one", arguments: [nil, 0, 4, 5, 6] as [UInt64?])
  func olderThanApps(last: UInt64?) throws {
    var lock = try sample()
    if let last { lock.released?.manifestVersion = last } else { lock.released = nil }
    do {
      try lock.checkApps(at: "packer.lock.json")
      #expect(last ?? 0 >= 5)
    } catch {
      #expect(error.code == .releaseConflict)
      #expect(last ?? 0 < 5)
    }
    lock.apps = []
    try lock.checkApps(at: "packer.lock.json")
  }

  @Test("of version 1 holds the app versions as a list, which get a file each when it is written")
  func firstVersion() throws {
    let sample = try sample()
    let released = try #require(sample.released).record.line
    let list = JSON.list(sample.apps.map(\.record)).line
    let lock = try read("{\"apps\": \(list), \"released\": \(released), \"version\": 1}")
    #expect(lock == sample)
    // If only the files of the apps could be written, both are there. A merge may put the list into a file of version 2.
    for version in [1, 2] {
      try lock.write(to: directory("lock"), files: FaultyFiles())
      #expect(directory.bytes(of: "lock") == sample.document)
      #expect(try ReleaseLock.read(directory("lock")) == sample)
      #expect(try read("{\"apps\": \(list), \"released\": \(released), \"version\": \(version)}") == sample)
    }
  }

  @Test("is refused if the files of two app versions differ only in case")
  func appCase() throws {
    var lock = try sample()
    lock.apps[0].version = "2.0b"
    lock.apps[1] = lock.apps[0]
    lock.apps[1].version = "2.0B"
    try lock.write(to: directory("lock"), files: FaultyFiles())
    let error = #expect(throws: PackError.self) { try ReleaseLock.read(directory("lock")) }
    #expect(error?.message.contains("differ only in case") == true)
  }

  @Test("says whether app versions were recorded, so that the loss of all their files is an error")
  func lostApps() throws {
    let lock = try sample()
    try lock.write(to: directory("lock"), files: FaultyFiles())
    for name in directory.names(in: "packer.apps") { try SystemFiles().remove(directory("packer.apps/\(name)"), .file, in: nil) }
    var error = #expect(throws: PackError.self) { try ReleaseLock.read(directory("lock")) }
    #expect(error?.code == .missingLock)
    #expect(error?.message.hasSuffix("packer.apps holds no app version, but \(directory("lock")) says that some were recorded") == true)
    // The other way round, the app versions say that there was a lock file.
    try lock.write(to: directory("lock"), files: FaultyFiles())
    try SystemFiles().remove(directory("lock"), .file, in: nil)
    error = #expect(throws: PackError.self) { try ReleaseLock.readIfPresent(directory("lock")) }
    #expect(error?.code == .missingLock)
  }

  @Test("notices the loss of an app version that a later one follows")
  func lostApp() throws {
    var lock = try sample()
    lock.apps[1].follows = ["1.9@iOS"]
    try lock.write(to: directory("lock"), files: FaultyFiles())
    #expect(try ReleaseLock.read(directory("lock")) == lock)
    try SystemFiles().remove(directory("packer.apps/1.9@iOS.json"), .file, in: nil)
    let error = #expect(throws: PackError.self) { try ReleaseLock.read(directory("lock")) }
    #expect(error?.code == .missingLock)
    #expect(error?.message.hasSuffix("packer.apps/1.9@iOS.json does not exist, but app 1.10 was recorded after it") == true)
  }

  @Test("keeps the symbolic links under which its files lie")
  func links() throws {
    let lock = try sample()
    try lock.write(to: directory("lock"), files: FaultyFiles())
    try SystemFiles().makeDirectory(directory("shared"), mode: 0o755, in: nil)
    for name in ["lock", "packer.apps/1.10.json"] {
      let target = directory("shared/\(name.split(separator: "/").last ?? "")")
      try FileManager.default.moveItem(atPath: directory(name), toPath: target)
      try FileManager.default.createSymbolicLink(atPath: directory(name), withDestinationPath: target)
    }
    var changed = lock
    changed.apps[1].isRetired.toggle()
    changed.released?.manifestVersion += 1
    try changed.write(to: directory("lock"), files: FaultyFiles())
    #expect(try ReleaseLock.read(directory("lock")) == changed)
    #expect(directory.names(in: "shared") == ["1.10.json", "lock"])
    #expect(directory.bytes(of: "shared/lock") == changed.document)
    #expect(directory.bytes(of: "shared/1.10.json") == changed.apps[1].record.document)
  }

  @Test("is readable if writing it stops at any file operation, with the earlier release until every app version is written")
  func everyStop() throws {
    var before = try sample()
    before.apps = [before.apps[0]]
    before.released?.manifestVersion = 5
    let after = try sample()
    let counting = FaultyFiles()
    try before.write(to: directory("lock"), files: SystemFiles())
    try after.write(to: directory("lock"), files: counting)
    #expect(counting.calls.count > 10)
    var states: Set<ReleaseLock> = []
    for number in counting.calls.indices {
      try SystemFiles().remove(directory("packer.apps/1.10.json"), .file, in: nil)
      try before.write(to: directory("lock"), files: SystemFiles())
      #expect(throws: PackError.self) { try after.write(to: directory("lock"), files: FaultyFiles.stopping(at: number)) }
      let found = try ReleaseLock.read(directory("lock"))
      states.insert(found)
      #expect(found.released == before.released || found == after, "from \(counting.calls[number]) on")
      try after.write(to: directory("lock"), files: SystemFiles())
      #expect(try ReleaseLock.read(directory("lock")) == after)
    }
    #expect(states.count == 3)
  }

  @Test("is readable if writing the first one stops at any file operation")
  func everyStopOfTheFirst() throws {
    let counting = FaultyFiles()
    try sample().write(to: directory("counted"), files: counting)
    #expect(counting.calls.count > 20)
    for number in counting.calls.indices {
      try SystemFiles().makeDirectory(directory("\(number)"), mode: 0o755, in: nil)
      let path = directory("\(number)/lock")
      #expect(throws: PackError.self) { try sample().write(to: path, files: FaultyFiles.stopping(at: number)) }
      let found = try ReleaseLock.readIfPresent(path)
      #expect(try found.released == nil || found == sample(), "from \(counting.calls[number]) on")
      try sample().write(to: path, files: SystemFiles())
      #expect(try ReleaseLock.read(path) == sample())
      // An earlier process was killed while it wrote what is there now.
      for name in [".lock", "packer.apps/.1.10.json"] { try directory.write([1], to: "\(number)/\(name).packer-0123456789abcdef") }
      try sample().write(to: path, files: SystemFiles())
      #expect(directory.names(in: "\(number)").sorted() == ["lock", "packer.apps"])
      #expect(directory.names(in: "\(number)/packer.apps").sorted() == ["1.10.json", "1.9@iOS.json"])
    }
  }

  @Test("takes app versions only from files with their names")
  func appNames() throws {
    try sample().write(to: directory("lock"), files: FaultyFiles())
    let file = try #require(directory.bytes(of: "packer.apps/1.10.json"))
    for name in ["1.10.json.orig", ".1.10.json", "README.md"] { try directory.write(file, to: "packer.apps/\(name)") }
    #expect(try ReleaseLock.read(directory("lock")) == sample())
    try directory.write(file, to: "packer.apps/1.10 (copy).json")
    var odd = try sample()
    for version in [".5", "..", "a/b", "a@b", "", "-1", String(repeating: "1", count: 65)] {
      odd.apps[0].version = version
      #expect(throws: PackError.self, "\(version)") { try odd.write(to: directory("odd"), files: SystemFiles()) }
    }
    let error = #expect(throws: PackError.self) { try ReleaseLock.read(directory("lock")) }
    #expect(error?.message.hasSuffix("1.10 (copy).json describes app 1.10, which belongs into 1.10.json") == true)
  }

  @Test(
    "is refused with the position and the fault",
    arguments: [
      ("", "1:1: the document ends where a value was expected"),
      ("{\"apps\": [],\n \"apps\": [], \"version\": 1}", "2:2: the object has the key 'apps' twice"),
      ("{\"apps\": [], \"version\": 1,}", "1:27: a key in quotes was expected"),
      ("{\"apps\": [], \"version\": 1.5}", "1:26: a whole number was expected"),
      ("{\"apps\": [], \"version\": 01}", "1:27: a number starts with a zero"),
      ("{\"apps\": null, \"version\": 1}", "1:10: an object, a list, a text, a whole number, true or false was expected"),
      ("[{},]", "1:5: an object, a list, a text, a whole number, true or false was expected"),
      ("{} {}", "1:4: something follows the document"),
      ("{\"a\": \"\\ud800\"}", "1:14: a text contains half a surrogate pair"),
      ("{\"a\": \"\u{1}\"}", "1:8: a text contains a control character"),
      (String(repeating: "[", count: 40), "1:17: the document is nested more than 16 levels deep"),
    ])
  func malformed(text: String, message: String) {
    let error = #expect(throws: PackError.self) { try read(text) }
    #expect(error?.code == .invalidRecord)
    #expect(error?.message == "\(directory("lock")):\(message)")
  }

  @Test(
    "is refused if it has fields or values that no release has",
    arguments: [
      ("[]", "the lock is not an object", nil),
      ("{\"apps\": []}", "the lock has no 'version'", nil),
      ("{\"version\": 3}", "the lock has version 3, but this packer reads versions 1 to 2", "use the packer that wrote it, or a newer one"),
      ("{\"apps\": 1, \"version\": 2}", "'apps' of the lock is neither true nor false", nil),
      ("{\"apps\": {}, \"version\": 1}", "'apps' of the lock is not a list", nil),
      ("{\"apps\": [], \"version\": 1, \"extra\": true}", "the lock has the unknown key 'extra'", nil),
      ("{\"apps\": [{}], \"version\": 1}", "an app has no 'version'", nil),
      ("{\"apps\": [], \"version\": 9007199254740992}", "'version' of the lock is 9007199254740992, more than 9007199254740991", nil),
    ])
  func wrong(text: String, message: String, hint: String?) {
    let error = #expect(throws: PackError.self) { try read(text) }
    #expect(error?.code == .invalidRecord)
    #expect(error?.message == "\(directory("lock")): \(message)")
    #expect(error?.advice?.description == hint)
  }

  @Test("is refused if a pack or an app is in it twice")
  func twice() throws {
    var lock = try sample()
    let app = lock.apps[0].record.line
    #expect(
      #expect(throws: PackError.self) { try read("{\"apps\": [\(app), \(app)], \"version\": 1}") }?.message.contains(
        "app 1.9 for iOS is recorded twice") == true)
    lock.released?.packs[1].id = "a"
    #expect(
      #expect(throws: PackError.self) { try read(String(decoding: lock.document, as: UTF8.self)) }?.message.contains(
        "pack 'a' is recorded twice") == true)
  }

  @Test("that was damaged anywhere is refused, or gives another value that can be written and read back")
  func damaged() throws {
    let document = try sample().document
    var random = SeededGenerator()
    for number in 0..<600 {
      var bytes = document
      if number < 200 {
        bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
      } else {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
      }
      guard let value = try? JSON(parsing: bytes) else { continue }
      #expect(number >= 200 || value == (try? JSON(parsing: document)))
      #expect(try JSON(parsing: value.document) == value)
    }
  }

  @Test(
    "a build record with invalid values is refused",
    arguments: [
      (
        "\"file\": \"a-0101010101010101.pack\"", "\"file\": \"../a.pack\"",
        "the file of pack 'a' is '../a.pack', which is not a file name in this directory"
      ),
      (
        "\"file\": \"a-0101010101010101.pack\"", "\"file\": \"..\"",
        "the file of pack 'a' is '..', which is not a file name in this directory"
      ),
      ("\"id\": \"b\"", "\"id\": \"a\"", "pack 'a' is listed twice"), ("\"id\": \"b\"", "\"id\": \"b/c\"", "'b/c' is not a pack name"),
      ("\"keyID\": \"0011223344556677\"", "\"keyID\": \"0011\"", "'keyID' of a pack is not 16 hexadecimal digits"),
      (
        "\"issued\": \"2026-11-01T00:00:00Z\"", "\"issued\": \"yesterday\"",
        "'issued' is 'yesterday', which is not a time such as 2026-01-31T12:00:00Z"
      ),
    ])
  func buildRecord(good: String, bad: String, message: String) throws {
    let time = try #require(ManifestTime("2026-11-01T00:00:00Z"))
    let digest = [UInt8](repeating: 1, count: 32)
    let packs = ["a", "b"].map { id in
      BuildRecord.Pack(
        id: id, version: 3, file: "\(id)-0101010101010101.pack", size: 400, sha256: digest, contentRoot: digest, keyID: "0011223344556677",
        settings: "none", created: time, differsFrom: id == "a" ? digest : nil)
    }
    let manifest = BuildRecord.Manifest(version: 2, size: 700, signedDigest: digest, contentDigest: digest, issued: time, expires: time)
    let record = BuildRecord(manifest: manifest, packs: packs, signers: ["pkp1-x"], files: ["a", "b"])
    try directory.write(record.document, to: "build.json")
    #expect(try BuildRecord.read(in: directory.path) == record)
    let text = String(decoding: record.document, as: UTF8.self)
    try directory.write(text.replacing(good, with: bad, maxReplacements: 1).utf8, to: "build.json")
    let error = #expect(throws: PackError.self) { try BuildRecord.read(in: directory.path) }
    #expect(error?.code == .invalidRecord && error?.message == "\(directory("build.json")): \(message)")
  }

  @Test(
    "orders versions by their numbers",
    arguments: [
      ("2.9", "2.10"), ("2", "2.0"), ("1.9.9", "2"), ("2.0-beta", "2.0-rc"), ("2.0", "2.0.1"), ("9", "10"), ("02", "2"), ("a", "b"),
    ])
  func order(lower: String, higher: String) {
    #expect(ReleaseLock.isLower(lower, higher))
    #expect(!ReleaseLock.isLower(higher, lower))
    #expect(!ReleaseLock.isLower(lower, lower))
  }
}

@Suite("The budget of a release")
struct ReleaseBudgetTests {
  private func pack(
    _ id: String, _ delivery: DeliveryClass, size: UInt64, installSize: UInt64, _ install: InstallMode = .unpacked
  ) -> ManifestPack {
    ManifestPack(
      id: id, version: 1, url: "https://a.example/\(id)", size: size, sha256: [], contentRoot: [], contentSize: 0, installSize: installSize,
      files: 0, maxFrame: 0, keyID: "", delivery: delivery, install: install)
  }

  private func budget(
    _ packs: [ManifestPack], ceiling: UInt64 = 1000, basisPoints: UInt64 = 0, bytes: UInt64 = 0
  ) throws(PackError) -> ReleaseBudget {
    try ReleaseBudget(
      packs: packs, manifestCeiling: ceiling, headroom: PackerConfiguration.Headroom(basisPoints: basisPoints, bytes: bytes))
  }

  @Test("counts essential, other and on-demand packs separately, reserves a manifest and a second essential download, adds headroom")
  func sums() throws {
    let packs = [
      pack("a", .essential, size: 100, installSize: 8192), pack("b", .essential, size: 300, installSize: 4096),
      pack("c", .prefetch, size: 5000, installSize: 12_288), pack("d", .prefetch, size: 4097, installSize: 40_960, .packed),
      pack("e", .onDemand, size: 70, installSize: 4096),
    ]
    let budget = try budget(packs)
    #expect(
      budget.install
        == InstallBudget(
          essentialDownloadAllowance: 100 + 300 + 1000 + 1, downloadAllowance: 5000 + 4097 + 300 + 1,
          essentialMaxInstallSize: 8192 + 4096 + 1, maxInstallSize: 12_288 + 8192 + 1))
    #expect(budget.onDemandDownload == 70 && budget.onDemandInstalled == 4096)
    let installed: UInt64 = 8192 + 4096 + 12_288 + 8192 + 4096
    // Two versions of all packs, the new ones, and beside the tree of c the file of two blocks from which it is unpacked.
    #expect(budget.peak.kept == 2 * installed && budget.peak.arriving == installed + 8192)
    // The store, its five directories, its marker, manifest, list of versions, one record for each pack, and one that is being replaced.
    #expect(budget.peak.records == (1 + 5 + 1 + 1 + 1 + 5 + 1) * 4096)
    #expect(budget.peakDisk == 3 * installed + 8192 + 15 * 4096)
    let parts = [budget.essentialDownload, budget.download, budget.essentialInstalled, budget.installed]
    #expect(parts.map(\.total) == parts.map { $0.packs + $0.reserved + $0.headroom })
  }

  @Test("has all its numbers if there are no packs, and none of them is 0")
  func nothing() throws {
    let budget = try budget([])
    #expect(budget.install.named.map(\.bytes) == [1, 1001, 1, 1])
    #expect(budget.peak.kept == 0 && budget.peak.arriving == 0 && budget.peakDisk == budget.peak.records)
  }

  @Test(
    "gets the larger of the two headrooms, with percentages rounded up",
    arguments: [(0, 0, 1), (1, 0, 1), (200, 0, 200), (201, 0, 201), (200, 201, 201), (10_000, 0, 10_000), (1, 2, 2)]
      as [(UInt64, UInt64, UInt64)])
  func headroom(basisPoints: UInt64, bytes: UInt64, expected: UInt64) throws {
    let budget = try budget([pack("a", .prefetch, size: 10_000, installSize: 4096)], basisPoints: basisPoints, bytes: bytes)
    #expect(budget.download.headroom == expected)
    let odd = try self.budget([pack("a", .prefetch, size: 10_001, installSize: 4096)], basisPoints: 100)
    #expect(odd.download.headroom == 101)
  }

  @Test("is refused if a manifest cannot hold any one of its numbers")
  func overflow() throws {
    let most = Limits.packVersion
    let cases: [([ManifestPack], UInt64, UInt64)] = [
      ([pack("a", .prefetch, size: most, installSize: 0)], 0, 0), ([pack("a", .essential, size: most, installSize: 0)], 0, 0),
      ([pack("a", .prefetch, size: 0, installSize: .max)], 0, 0), ([pack("a", .onDemand, size: .max, installSize: .max)], 0, 0),
      ([pack("a", .prefetch, size: .max - 4096, installSize: 0), pack("b", .prefetch, size: 1 << 40, installSize: 0)], 0, 0),
      ([], most, 0), ([], .max, 0), ([], 0, .max),
      ([pack("a", .onDemand, size: most / 2, installSize: most / 2)], 0, 0),
    ]
    for (packs, ceiling, bytes) in cases {
      let error = #expect(throws: PackError.self) { try budget(packs, ceiling: ceiling, bytes: bytes) }
      #expect(error?.code == .limitExceeded, "\(packs.map(\.id)) \(ceiling) \(bytes)")
    }
    #expect(throws: PackError.self) { try budget([pack("a", .prefetch, size: 1 << 40, installSize: 0)], basisPoints: .max) }
  }
}
