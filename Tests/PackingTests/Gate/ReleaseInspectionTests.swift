import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate
@testable import PackProject

/// A release on disk: two packs, a signed manifest and packages.json.
final class DistSample {
  let directory: TemporaryDirectory
  let signer: SigningKey
  var manifest: Manifest
  private let now = GateSample.time("2026-11-21T12:00:00Z")

  /// The SHA-256 of the manifest's signed bytes.
  func signedDigest() throws -> [UInt8] {
    let bytes = try manifest.signedBytes()
    return try CryptoBackends.standard.digest(of: bytes.byteSpan)
  }

  /// - Parameter trees: the contents of the packs, with their ids.
  init(_ trees: [(id: String, tree: SampleTree)] = DistSample.trees, delivery: DeliveryClass = .prefetch) async throws {
    directory = try TemporaryDirectory()
    signer = try SigningKey.random()
    try directory.makeDirectory("dist")
    var packs: [ManifestPack] = []
    for (id, tree) in trees {
      try tree.write(to: "build/\(id)", in: directory)
      var job = PackJob(source: directory("build/\(id)"), output: directory("dist/new.pack"), name: try PackName(id))
      job.settings.allowsSecrets = true
      job.jobs = 2
      let report = try await job.run(key: try knownKey())
      let bytes = try #require(directory.bytes(of: "dist/new.pack"))
      let digest = try CryptoBackends.standard.makeDigest()
      try digest.update(bytes.byteSpan)
      let sha256 = try digest.finish()
      let name = "\(id)-\(sha256.prefix(8).hex).pack"
      try FileManager.default.moveItem(atPath: directory("dist/new.pack"), toPath: directory("dist/\(name)"))
      packs.append(
        ManifestPack(
          id: id, version: 1, url: "https://cdn.example.com/packs/\(name)", size: UInt64(bytes.count), sha256: sha256,
          contentRoot: report.contentRoot, contentSize: report.contentSize, installSize: tree.sizeOnDevice,
          files: UInt64(tree.files.count + tree.emptyDirectories.count), maxFrame: UInt64(report.largestFrame), keyID: "\(report.keyID)",
          delivery: delivery, install: .unpacked, name: id))
    }
    manifest = Manifest(version: 1, issued: now, expires: GateSample.time("2027-05-20T12:00:00Z"), budget: nil, packs: packs)
    try write()
  }

  static let trees: [(id: String, tree: SampleTree)] = [
    (
      "core",
      SampleTree(["index.html": .init(Array("<!DOCTYPE html>".utf8)), "js/deep/er/main.js": .init(Array(repeating: 65, count: 9000))])
    ),
    (
      "game",
      SampleTree(["a.bin": .init(Array(repeating: 7, count: 70_000)), "run.sh": .init([1], isExecutable: true)], emptyDirectories: ["e/m"])
    ),
  ]

  /// Signs and writes the manifest, and writes packages.json.
  func write() throws {
    let signed = try manifest.signedBytes()
    let document = try SignedManifest(signed: signed, signatures: [SignedManifest.signature(of: signed, by: signer)])
    try directory.write(document.bytes, to: "dist/manifest.json")
    let packages = manifest.packs.map { pack in
      #"{"id":"\#(pack.id)","essential":\#(pack.delivery == .essential),"path":"\#(pack.url)","size":\#(pack.size)}"#
    }
    try directory.write(Array(#"{"packages":[\#(packages.joined(separator: ","))]}"#.utf8), to: "dist/packages.json")
  }

  func file(_ number: Int) -> String { "dist/\(manifest.packs[number].fileName)" }

  func change(_ number: Int, _ body: (inout [UInt8]) -> Void) throws {
    var bytes = try #require(directory.bytes(of: file(number)))
    body(&bytes)
    try directory.write(bytes, to: file(number))
  }

  func report(
    key: UInt8? = 0, isQuick: Bool = false, trusting: SigningPublicKey? = nil, _ change: (inout ReleaseVerification) -> Void = { _ in }
  ) async throws -> ReleaseReport {
    var verification = ReleaseVerification(directory("dist"), now: now)
    verification.trusted = TrustedKeys([trusting ?? signer.publicKey])
    verification.isQuick = isQuick
    verification.jobs = 2
    change(&verification)
    guard let key else { return try await verification.run(key: nil) }
    return try await verification.run(key: Shared(try TestSupport.key(filledFrom: key)))
  }
}

extension SampleTree {
  /// The size of the tree in blocks of 4 KiB, computed in another way than in the tool.
  var sizeOnDevice: UInt64 {
    var directories: Set<[Substring]> = [[]]
    for path in files.keys.map({ $0.split(separator: "/").dropLast() }) + emptyDirectories.map({ $0.split(separator: "/")[...] }) {
      for count in 0...path.count { directories.insert(Array(path.prefix(count))) }
    }
    let blocks = files.values.reduce(directories.count) { $0 + ($1.bytes.count + 4095) / 4096 }
    return UInt64(blocks) * 4096
  }
}

@Suite("The verification of release files", .bounded)
struct ReleaseInspectionTests {
  /// The rules with findings, without notes: the sample has an empty directory.
  private func ids(_ report: ReleaseReport) -> Set<String> { Set(report.findings.filter { $0.level != .note }.map(\.rule.id)) }

  @Test("a sound release has no findings, with and without --quick")
  func sound() async throws {
    let dist = try await DistSample()
    let report = try await dist.report()
    #expect(report.findings.map(\.headline) == ["game: the directory 'e/m' is empty"])
    #expect(report.findings.map(\.level) == [.note])
    #expect(report.facts.contains { $0.value == "2 of 2 opened, all bytes checked" })
    #expect(try await dist.report(isQuick: true).findings.map(\.headline) == [])
  }

  @Test("with --quick and without a key, a finding says that no pack was opened")
  func withoutKey() async throws {
    let dist = try await DistSample()
    let report = try await dist.report(key: nil, isQuick: true)
    #expect(ids(report) == ["PK1002"])
    let error = await #expect(throws: PackError.self) { try await dist.report(key: nil) }
    #expect(error?.code == .noKey)
  }

  @Test("a flipped bit of a payload is found by the digest, with and without --quick", arguments: [true, false])
  func flippedBit(isQuick: Bool) async throws {
    let dist = try await DistSample()
    try dist.change(0) { $0[400] ^= 1 }
    let report = try await dist.report(isQuick: isQuick)
    #expect(ids(report).contains("PK2004"))
    #expect(report.verdict(isStrict: false) == .damaged)
  }

  // Byte 8 belongs to the format version, byte 104 to the key id.
  @Test("a changed header is damage, not a wrong key or a missing reader", arguments: [8, 104], [true, false])
  func changedHeader(offset: Int, isQuick: Bool) async throws {
    let dist = try await DistSample()
    try dist.change(0) { $0[offset] ^= 0x10 }
    let report = try await dist.report(isQuick: isQuick)
    #expect(ids(report).contains("PK2004") && ids(report).isDisjoint(with: ["PK1001", "PK2007"]))
    #expect(report.verdict(isStrict: false) == .damaged)
    // A given key that is not the one in the manifest either is reported, too.
    #expect(ids(try await dist.report(key: 1, isQuick: isQuick)).contains("PK1001"))
  }

  @Test("a pack without its last byte is truncated")
  func truncated() async throws {
    let dist = try await DistSample()
    try dist.change(1) { $0.removeLast() }
    let report = try await dist.report()
    #expect(ids(report) == ["PK2003"])
    #expect(report.verdict(isStrict: false) == .truncated)
  }

  @Test("a wrong key, an untrusted signature and a missing pack are reported together, and the wrong key decides")
  func together() async throws {
    let dist = try await DistSample()
    try FileManager.default.removeItem(atPath: dist.directory(dist.file(1)))
    try dist.directory.write([1], to: "dist/old.pack")
    let report = try await dist.report(key: 1, trusting: try SigningKey.random().publicKey)
    #expect(ids(report) == ["PK1001", "PK2001", "PK2002", "PK5002"])
    #expect(report.verdict(isStrict: false) == .wrongKey)
  }

  // MARK: What does not belong to the release

  @Test("a game that was copied into the directory is found, with the files of the packs that are in it", arguments: [true, false])
  func plaintext(isQuick: Bool) async throws {
    let dist = try await DistSample()
    try FileManager.default.copyItem(atPath: dist.directory("build/game"), toPath: dist.directory("dist/game"))
    try dist.directory.write(Array("notes".utf8), to: "dist/game/notes.txt")
    let report = try await dist.report(isQuick: isQuick)
    #expect(ids(report) == ["PK2018"])
    let finding = try #require(report.findings.first)
    #expect(
      finding.level == .error && finding.message.contains("dist/game is not part of the release (3 files, 70.0 kB)"), "\(finding.message)")
    let copies = ["'game/a.bin' has the bytes of 'a.bin' in pack 'game'", "'game/run.sh' has the bytes of 'run.sh' in pack 'game'"]
    #expect(finding.details.sorted() == (isQuick ? [] : copies))
    #expect(report.verdict(isStrict: false) == .other)
  }

  @Test("each file and link that the manifest does not explain is named, and Finder metadata is a warning")
  func strangers() async throws {
    let dist = try await DistSample()
    let files = ["arcade.key", "core.pack.bak", ".hidden", ".DS_Store", "a b.txt"]
    for name in files { try dist.directory.write([0xEE], to: "dist/\(name)") }
    func strangers() async throws -> [ReleaseFinding] { try await dist.report().findings.filter { $0.rule.id == "PK2018" } }
    #expect(Set(try await strangers().compactMap(\.file)) == Set(files.map { dist.directory("dist/\($0)") }))
    #expect(try await strangers().filter { $0.level == .warning }.compactMap(\.file) == [dist.directory("dist/.DS_Store")])
    for name in files { try FileManager.default.removeItem(atPath: dist.directory("dist/\(name)")) }
    try FileManager.default.createSymbolicLink(atPath: dist.directory("dist/link"), withDestinationPath: "/etc")
    try dist.directory.makeDirectory("dist/empty")
    try dist.directory.makeDirectory("dist/old.pack")
    let report = try await dist.report()
    #expect(Set(try await strangers().compactMap(\.file)) == Set(["empty", "link", "old.pack"].map { dist.directory("dist/\($0)") }))
    // The link is not followed.
    #expect(report.findings.contains { $0.message.hasSuffix("dist/link is not part of the release (a symbolic link)") })
  }

  @Test("a broken link, a link to itself and a pipe are called what they are")
  func oddities() async throws {
    let dist = try await DistSample()
    try FileManager.default.createSymbolicLink(atPath: dist.directory("dist/gone"), withDestinationPath: "nowhere")
    try FileManager.default.createSymbolicLink(atPath: dist.directory("dist/loop"), withDestinationPath: "loop")
    #expect(unsafe mkfifo(dist.directory("dist/pipe"), 0o600) == 0)
    let messages = try await dist.report().findings.filter { $0.rule.id == "PK2018" }.map(\.message)
    for (name, what) in [("gone", "a broken symbolic link"), ("loop", "a broken symbolic link"), ("pipe", "a pipe, a socket or a device")] {
      #expect(messages.contains { $0.hasSuffix("dist/\(name) is not part of the release (\(what))") }, "\(messages)")
    }
  }

  @Test("no name hides plain files: not that of metadata, not that of a file that a build writes")
  func hiddenFiles() async throws {
    let dist = try await DistSample()
    try FileManager.default.copyItem(atPath: dist.directory("build/game"), toPath: dist.directory("dist/__MACOSX"))
    try dist.directory.makeDirectory("dist/.git")
    try dist.directory.write([0xEE], to: "dist/.git/config")
    try? FileManager.default.removeItem(atPath: dist.directory("dist/budget.md"))
    try FileManager.default.copyItem(atPath: dist.directory("build/game"), toPath: dist.directory("dist/budget.md"))
    try dist.directory.makeDirectory("dist/._x")
    try dist.directory.write([0xEE], to: "dist/._x/.DS_Store")
    let found = try await dist.report().findings.filter { $0.rule.id == "PK2018" }
    let errors = Set(found.filter { $0.level == .error }.compactMap(\.file))
    #expect(errors == Set(["__MACOSX", ".git", "budget.md"].map { dist.directory("dist/\($0)") }))
    #expect(found.filter { $0.level == .warning }.compactMap(\.file) == [dist.directory("dist/._x")])
    #expect(found.filter { $0.message.contains("of its packs in the clear") }.count == 2)
  }

  @Test("a directory that cannot be read is a finding, and a file that never ends is not read", .bounded)
  func endless() async throws {
    let dist = try await DistSample()
    try dist.directory.makeDirectory("dist/ba-package")
    for name in ["game.json", "game.pack"] {
      try FileManager.default.createSymbolicLink(atPath: dist.directory("dist/ba-package/\(name)"), withDestinationPath: "/dev/zero")
    }
    let report = try await dist.report()
    #expect(report.findings.contains { $0.rule.id == "PK2017" })
  }

  @Test("a secret is not just a foreign file: its kind is named, wherever it lies, with or without --quick", arguments: [true, false])
  func uploadedSecrets(isQuick: Bool) async throws {
    let dist = try await DistSample()
    let digits = String(repeating: "4d081f6a", count: 8)
    let kinds = [
      ("a.key", "pkk1-\(digits)-00000000\n", "holds a secret content key (pkk1-), which opens packs"),
      ("notes/.env", "A=1\nPACKER_SIGN_KEY=pks1-\(digits)-00000000\n", "holds a secret signing key (pks1-), which signs manifests"),
      (
        "id.txt", "my key:\n-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIBkg4LVWM9nuwNSk3yByxZpYRTBnVJZ\n-----END EC PRIVATE KEY-----\n",
        "contains what looks like a private key in line 2, column 1 (private-key)"
      ),
      ("ci/token.json", "{\"token\": \"\(SecretCases.forges[0].text)\"}\n", "contains what looks like a GitHub token in line 1, column "),
      (".env", "A=1\n", "looks like environment secrets"),
    ]
    for (name, text, _) in kinds { try dist.directory.write(text.utf8, to: "dist/\(name)") }
    // A public key, and a text about keys, are no secrets.
    try dist.directory.write("pkp1-\(digits)-00000000, made with pks1- and pkk1-".utf8, to: "dist/about.txt")
    let report = try await dist.report(isQuick: isQuick)
    let found = report.findings.filter { $0.rule.id == "PK2019" }
    #expect(found.count == kinds.count)
    for (name, _, reason) in kinds {
      #expect(found.contains { $0.message.hasPrefix("\(dist.directory("dist/\(name)")) \(reason)") }, "\(name)")
    }
    #expect(found.allSatisfy { $0.level == .error })
    #expect(found.first { $0.message.contains("pks1-") }?.hint?.contains("Documentation/RECOVERY.md, 'A signing key leaked'") == true)
    let others = report.findings.filter { $0.rule.id == "PK2018" }.compactMap(\.file)
    #expect(Set(others) == [dist.directory("dist/about.txt"), dist.directory("dist/ci"), dist.directory("dist/notes")])
  }

  @Test("the commands of the hints lose no file when they are all run, in any order")
  func harmlessHints() async throws {
    let dist = try await DistSample()
    try dist.directory.makeDirectory("dist/ba-package")
    for (name, text) in [("a b.txt", "1"), (".env", "2"), ("ba-package/.env", "3"), ("-x", "4")] {
      try dist.directory.write(text.utf8, to: "dist/\(name)")
    }
    let findings = try await dist.report().findings.filter { ["PK2018", "PK2019"].contains($0.rule.id) }
    #expect(findings.count == 4)
    for finding in findings {
      try ChildProcess.run("/bin/sh", ["-c", String(finding.hint?.split(separator: "\n").first ?? "")])
    }
    let moved = dist.directory.names(in: "outside-of-release").compactMap { dist.directory.bytes(of: "outside-of-release/\($0)") }
    let left = ["dist/.env", "dist/ba-package/.env"].compactMap { dist.directory.bytes(of: $0) }
    #expect(Set((moved + left).map { String(decoding: $0, as: UTF8.self) }) == ["1", "2", "3", "4"])
    #expect(moved.count == 3 && left.count == 1)
  }

  @Test("many foreign files are one finding with a count")
  func manyStrangers() async throws {
    let dist = try await DistSample()
    for number in 100..<111 { try dist.directory.write([1, 2], to: "dist/\(number).txt") }
    for number in 100..<121 { try dist.directory.write([0xEE], to: "dist/._\(number)") }
    let found = try await dist.report().findings.filter { $0.rule.id == "PK2018" }
    #expect(
      found.map(\.message) == [
        "11 names in \(dist.directory("dist")) are not part of the release (11 files, 22 bytes)",
        "21 names in \(dist.directory("dist")) are not part of the release (21 files, 21 bytes)",
      ])
    #expect(found.map(\.level) == [.error, .warning])
    #expect(found.first?.details.count == 11 && found.first?.hint?.contains("110.txt") == true)
    #expect(found.last?.details.last == "and 1 more" && found.last?.hint?.hasPrefix("packer build -o") == true)
  }

  @Test("a pack that is a symbolic link is found, although it can be read")
  func linkedPack() async throws {
    let dist = try await DistSample()
    try dist.directory.makeDirectory("other")
    try FileManager.default.moveItem(atPath: dist.directory(dist.file(0)), toPath: dist.directory("other/core.pack"))
    try FileManager.default.createSymbolicLink(atPath: dist.directory(dist.file(0)), withDestinationPath: "../other/core.pack")
    let report = try await dist.report()
    #expect(ids(report) == ["PK2020"])
    #expect(report.findings.first?.pack == dist.manifest.packs[0].id)
    #expect(report.verdict(isStrict: false) == .other)
  }

  @Test("what was not opened is not called checked")
  func honestFacts() async throws {
    let noise = SeededGenerator(seed: 6).bytesOfNoise(300_000)
    let dist = try await DistSample([("core", SampleTree(["a.bin": .init([1])])), ("game", SampleTree(["b.bin": .init(noise)]))])
    func packs(key: UInt8 = 0) async throws -> String? { try await dist.report(key: key).facts.first { $0.name == "packs" }?.value }
    #expect(try await packs() == "2 of 2 opened, all bytes checked")
    #expect(try await packs(key: 1) == "0 of 2 opened")
    try dist.change(1) { $0[400] ^= 1 }
    #expect(try await packs() == "2 of 2 opened, 1 with all bytes checked")
    try dist.directory.write("{}".utf8, to: "dist/manifest.json")
    #expect(try await packs() == "not known, nothing checked")
  }

  @Test("pointers of Git LFS, a page that is not at the root, an empty directory and an empty pack are found")
  func unintended() async throws {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + String(repeating: "4d", count: 32) + "\nsize 12345\n"
    let dist = try await DistSample([
      (
        "core",
        SampleTree(
          ["hero.png": .init(Array(pointer.utf8)), "www/index.html": .init([1]), "www/about.html": .init([2])], emptyDirectories: ["levels"]
        )
      ), ("nothing", SampleTree([:])),
    ])
    let report = try await dist.report()
    #expect(ids(report) == ["PK6008"])
    #expect(
      report.findings.map { "\($0.level.rawValue) \($0.headline)" } == [
        "error core: 'hero.png' is a pointer of Git LFS, not the file", "error nothing: it is empty",
        "warning core: it has pages such as 'www/index.html', but no index.html at its root", "note core: the directory 'levels' is empty",
      ])
    // A text about pointers is none.
    let text = try await DistSample([("core", SampleTree(["lfs.txt": .init(Array(("see " + pointer).utf8))]))])
    #expect(ids(try await text.report()).isEmpty)
  }

  @Test("the input of ba-package is compared with the manifest: a missing pack, a changed policy, another pack's bytes, and added files")
  func managedInput() async throws {
    let dist = try await DistSample()
    try dist.directory.makeDirectory("dist/ba-package")
    for (number, entry) in dist.manifest.packs.enumerated() {
      try dist.directory.write(
        BAPackageManifest(for: entry, payload: "\(entry.id).pack").json, to: "dist/ba-package/\(entry.id).json")
      try dist.directory.write(try #require(dist.directory.bytes(of: dist.file(number))), to: "dist/ba-package/\(entry.id).pack")
    }
    #expect(ids(try await dist.report()) == [])

    func findings() async throws -> [String] { try await dist.report().findings.flatMap { [$0.message] + $0.details } }
    let good = try #require(dist.directory.bytes(of: "dist/ba-package/core.json"))
    let text = String(decoding: good, as: UTF8.self).replacingOccurrences(of: "prefetch", with: "essential")
    try dist.directory.write(Array(text.utf8), to: "dist/ba-package/core.json")
    #expect(try await findings().contains { $0.contains("'core.json' is not what 'packer build' writes for pack 'core'") })
    try dist.directory.write(good, to: "dist/ba-package/core.json")

    var pack = try #require(dist.directory.bytes(of: "dist/ba-package/game.pack"))
    pack[pack.count - 1] ^= 1
    try dist.directory.write(pack, to: "dist/ba-package/game.pack")
    #expect(try await findings().contains { $0.contains("'game.pack' is not the pack 'game' of the manifest") })
    try FileManager.default.removeItem(atPath: dist.directory("dist/ba-package/game.pack"))
    #expect(try await findings().contains { $0.contains("'game.pack' is missing") })
    #expect(ids(try await dist.report()) == ["PK2017"])
    let finding = try #require(try await dist.report().findings.first { $0.rule.id == "PK2017" })
    #expect(finding.hint == "packer build --ba-package" && finding.phone == nil)

    try dist.directory.write([1], to: "dist/ba-package/core.aar")
    #expect(ids(try await dist.report()) == ["PK2017", "PK2018"])
  }

  @Test("with Apple's hosting, a release without the input of ba-package is an error", arguments: [true, false])
  func withoutManagedInput(isQuick: Bool) async throws {
    let dist = try await DistSample()
    var configuration = try GateSample.configuration(for: dist.manifest.packs)
    for (hosting, level) in [(PackerConfiguration.Hosting.apple, FindingLevel.error), (.managed, .warning)] {
      configuration.hosting = hosting
      let changed = configuration
      let found = try await dist.report(isQuick: isQuick) { $0.configuration = changed }.findings.filter { $0.rule.id == "PK2017" }
      #expect(found.map(\.level) == [level])
    }
  }

  @Test("a manifest that was changed after it was signed is refused")
  func touched() async throws {
    let dist = try await DistSample()
    let text = String(decoding: try #require(dist.directory.bytes(of: "dist/manifest.json")), as: UTF8.self)
    try dist.directory.write(Array(text.replacingOccurrences(of: "\"version\":1}", with: "\"version\":2}").utf8), to: "dist/manifest.json")
    #expect(try await dist.report().verdict(isStrict: false) == .signature)
    try dist.directory.write(Array((text + "\n").utf8), to: "dist/manifest.json")
    let report = try await dist.report()
    #expect(ids(report) == ["PK5001"])
    #expect(report.verdict(isStrict: false) == .damaged)
  }

  @Test("a wrong signature of a key that apps trust is reported once: as PK5002 if the gate trusts the key, or else for those apps")
  func touchedUnderLock() async throws {
    let dist = try await DistSample()
    let other = try SigningKey.random()
    let digest = try dist.signedDigest()
    var lock = ReleaseLock()
    lock.released = ReleaseLock.Release(
      manifestVersion: dist.manifest.version, signedDigest: digest, contentDigest: digest, issued: dist.manifest.expires,
      expires: dist.manifest.expires, packs: [])
    lock.apps = [
      ReleaseLock.App(
        version: "1.0", budget: nil, hosts: nil, manifestURL: nil, trustedKeys: [dist.signer.publicKey.text],
        keyIDs: dist.manifest.packs.map(\.keyID), format: "1.0", firstManifest: 1)
    ]
    let path = dist.directory("packer.lock.json")
    try lock.write(to: path)
    #expect(ids(try await dist.report(isQuick: true) { $0.lock = path }) == [])

    // One of two signatures, that of the apps' key, is made wrong.
    let signed = try dist.manifest.signedBytes()
    var wrong = try SignedManifest.signature(of: signed, by: dist.signer)
    wrong.signature[0] ^= 1
    let right = try SignedManifest.signature(of: signed, by: other)
    let document = try SignedManifest(signed: signed, signatures: [wrong, right].sorted { $0.keyID < $1.keyID })
    try dist.directory.write(document.bytes, to: "dist/manifest.json")
    #expect(ids(try await dist.report(isQuick: true) { $0.lock = path }) == ["PK5002"])
    let report = try await dist.report(isQuick: true, trusting: other.publicKey) { $0.lock = path }
    #expect(
      report.findings.map(\.message) == ["app 1.0 trusts a key whose signature is wrong: the manifest was changed after it was signed"])
  }

  @Test("a pack under the name of another pack is found by name and content")
  func renamed() async throws {
    let dist = try await DistSample()
    let other = try #require(dist.directory.bytes(of: dist.file(1)))
    try dist.change(0) { $0 = other }
    let found = ids(try await dist.report())
    #expect(found == ["PK2008"])
    #expect(try await dist.report().findings.first?.headline.hasSuffix("is the pack 'game'") == true)
  }

  @Test("a copy for a recipient in the place of a pack is found, and named", arguments: [false, true])
  func wrappedCopy(isQuick: Bool) async throws {
    let dist = try await DistSample()
    let original = try #require(dist.directory.bytes(of: dist.file(0)))
    let key = try knownKey()
    let reader = try PackKey.random(.recipient)
    let publicKey = reader.recipient
    let recipient = try #require(publicKey)
    var rewrite = try HeaderRewrite(original.byteSpan, key: key)
    try rewrite.add(recipient)
    let header = try rewrite.seal()
    try dist.change(0) { $0 = header + $0.dropFirst(184) }
    let report = try await dist.report(isQuick: isQuick)
    #expect(ids(report).isSuperset(of: ["PK2003", "PK2008"]))
    #expect(report.findings.contains { $0.rule.id == "PK2008" && $0.message.contains("a copy that is wrapped for \(recipient.id)") })
  }

  @Test("a wrong size on the device in the manifest, and a wrong size in packages.json, are found")
  func sizes() async throws {
    let dist = try await DistSample()
    dist.manifest.packs[0].installSize += 4096
    try dist.write()
    var list = String(decoding: try #require(dist.directory.bytes(of: "dist/packages.json")), as: UTF8.self)
    #expect(ids(try await dist.report()) == ["PK2010"])
    list = list.replacingOccurrences(of: "\"size\":\(dist.manifest.packs[1].size)", with: "\"size\":1")
    try dist.directory.write(Array(list.utf8), to: "dist/packages.json")
    let report = try await dist.report()
    #expect(ids(report) == ["PK2010", "PK2017"])
    #expect(report.findings.first { $0.rule.id == "PK2017" }?.phone == .sizeMismatch)
  }

  @Test("on-demand packs have their own list, and a pack in no list is missing")
  func onDemand() async throws {
    let project = try ReleaseProject()
    try await project.build()
    var verification = ReleaseVerification(project.directory("dist"), now: ReleaseProject.time().now)
    verification.isQuick = true
    verification.only = ["PK2017"]
    #expect(try await verification.run(key: nil).findings.isEmpty)
    let list = String(decoding: try #require(project.directory.bytes(of: "dist/packages.json")), as: UTF8.self)
    try project.directory.write(list.replacingOccurrences(of: "\"onDemand\"", with: "\"other\"").utf8, to: "dist/packages.json")
    let findings = try await verification.run(key: nil).findings
    #expect(findings.map(\.headline).count == 1 && findings.first?.headline.hasSuffix("'voices-de' is missing") == true)
  }

  @Test("a changed source directory is reported with the path of the changed file")
  func changedSource() async throws {
    let dist = try await DistSample()
    var configuration = try GateSample.configuration(for: dist.manifest.packs)
    for index in configuration.packs.indices { configuration.packs[index].root = dist.directory("build/\(dist.manifest.packs[index].id)") }
    let unchanged = configuration
    #expect(ids(try await dist.report { $0.configuration = unchanged }) == [])
    try dist.directory.write([9], to: "build/game/a.bin")
    let report = try await dist.report { $0.configuration = unchanged }
    #expect(ids(report) == ["PK2011"])
    #expect(report.findings.first?.headline.contains("'a.bin' is 1 bytes, but 70000 bytes in the pack") == true)
  }

  @Test("a release is checked against its configuration without the source directories, and the rule that needs them is named")
  func noSources() async throws {
    let dist = try await DistSample()
    try dist.directory.write(
      "serve: {baseURL: \"https://cdn.example.com/packs/\"}\npacks: [{id: \"${name}\", each: build/*, tags: [all]}]\n".utf8,
      to: "packer.yml")
    let path = dist.directory("packer.yml")
    func missing(_ report: ReleaseReport) -> [ReleaseInput]? { report.rules.first { $0.rule.id == "PK2011" }?.missing }
    func report() async throws -> ReleaseReport {
      let configuration = try PackerConfiguration.read(path, sources: .optional)
      return try await dist.report { $0.configuration = configuration }
    }
    let complete = try await report()
    #expect(ids(complete) == ["PK1004"])
    #expect(missing(complete) == [])
    try FileManager.default.removeItem(atPath: dist.directory("build"))
    #expect(throws: PackError.self) { try PackerConfiguration.read(path) }
    let bare = try await report()
    #expect(
      bare.findings.filter { $0.rule.id == "PK1004" }.map(\.headline) == complete.findings.filter { $0.rule.id == "PK1004" }.map(\.headline)
    )
    #expect(ids(bare) == ["PK1004"])
    #expect(missing(bare) == [.sources])
  }

  @Test("secrets by name and by content, and content in two packs, are reported")
  func hygiene() async throws {
    let noise = SeededGenerator(seed: 4).bytesOfNoise(1_100_000)
    let dist = try await DistSample([
      ("core", SampleTree(["lib.bin": .init(noise), ".env": .init([1])])),
      ("game", SampleTree(["copy.bin": .init(noise), "notes.txt": .init(Array("-----BEGIN PRIVATE KEY-----\n".utf8))])),
    ])
    let report = try await dist.report()
    #expect(ids(report) == ["PK6004", "PK6006"])
    #expect(report.findings.filter { $0.rule.id == "PK6004" }.map(\.pack) == ["core", "game"])
    #expect(report.findings.last?.actual == 1_100_000)
  }

  @Test("secrets in files are reported in every copy, unless the configuration allows them, and so are unresolved merges")
  func secretsInFiles() async throws {
    let text = "a\n" + SecretCases.forges[0].text + "\n"
    let merge = "x\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> b\n"
    let large = Array(String(repeating: "0123456789abcde\n", count: 200_000).utf8)
    let dist = try await DistSample([
      ("core", SampleTree(["index.html": .init(Array(merge.utf8)), "large.txt": .init(large + Array(text.utf8))])),
      ("game", SampleTree(["a.js": .init(Array(text.utf8)), "b/copy.js": .init(Array(text.utf8)), "c.js": .init([1])])),
    ])
    let report = try await dist.report()
    #expect(ids(report) == ["PK6004", "PK6008"])
    let secrets = report.findings.filter { $0.rule.id == "PK6004" }
    #expect(secrets.map(\.pack) == ["core", "game"])
    #expect(
      secrets.first?.headline.contains("'large.txt', which contains what looks like a GitHub token in line 200002, column 19") == true)
    #expect(secrets.last?.details.map { $0.prefix(12) } == ["'a.js', which", "'b/copy.js', w"].map { $0.prefix(12) })
    #expect(report.findings.last?.headline == "core: the merge conflict in 'index.html', line 2, column 1, is not resolved")

    var configuration = try GateSample.configuration(for: dist.manifest.packs)
    for index in configuration.packs.indices {
      configuration.packs[index].root = dist.directory("build/\(dist.manifest.packs[index].id)")
      configuration.packs[index].settings.allowedSecrets = [
        AllowedSecret(path: "large.txt", rule: "github-token", reason: "a test"), AllowedSecret(path: "a.js", reason: "a test"),
      ]
    }
    let allowed = configuration
    let rest = try await dist.report { $0.configuration = allowed }.findings.filter { $0.rule.id == "PK6004" }
    #expect(rest.map(\.details) == [["'b/copy.js', which contains what looks like a GitHub token in line 2, column 19 (github-token)"]])
  }

  @Test("names in the wrong case are found in pages and style sheets, and others are left alone")
  func misspelledNames() async throws {
    let page = """
      <!DOCTYPE html><link rel=x href="CSS/Main.css"><script src = 'js/Main.js?v=1#a'></script><img src="js/main.js"><a href="/levels/">x</a>
      <!-- <img src="JS/main.js"> --><img src="https://example.com/JS/main.js"><img src="//example.com/JS/main.js"><img src="gone.png">
      <img src="${JS}/main.js"><img data-src="JS/main.js"><a href="../up.html"></a><a href="#JS/main.js"></a><video poster="Caf%C3%A9.png">
      <script>image.src = "IMG/a b.png"; x.src = name + "JS/main.js"</script><img src="%zz"><img src="">
      """
    let style =
      "a { background: url(../IMG/a%20b.png); b: url( 'Main.css' ); c: url(\"../img/a b.png\"); d: url(data:image/png;base64,JS) }"
    let names = ["index.html", "css/Main.css", "js/main.js", "img/a b.png", "Levels/index.html", "café.png", "based/a.html"]
    var tree = SampleTree(Dictionary(uniqueKeysWithValues: names.map { ($0, .init([1])) }))
    tree.files["index.html"] = .init(Array(page.utf8))
    tree.files["css/Main.css"] = .init(Array(style.utf8))
    tree.files["based/a.html"] = .init(Array("<BASE href='/'><img src='JS/main.js'>".utf8))
    tree.files["large.html"] = .init(Array(String(repeating: "<img src='JS/main.js'>", count: 50_000).utf8))
    let dist = try await DistSample([("core", tree)])
    let report = try await dist.report()
    #expect(ids(report) == ["PK6011", "PK6016", "PK6017"])
    #expect(
      report.findings.first { $0.rule.id == "PK6011" }?.details == [
        "'based/a.html' names 'JS/main.js', but the file is 'js/main.js'",
        "'css/Main.css' names '../IMG/a%20b.png', but the file is 'img/a b.png'",
        "'index.html' names '/levels/', but the file is 'Levels/index.html'",
        "'index.html' names 'CSS/Main.css', but the file is 'css/Main.css'",
        "'index.html' names 'IMG/a b.png', but the file is 'img/a b.png'",
        "'large.html' names 'JS/main.js', but the file is 'js/main.js'",
      ])
    // What is loaded in any case is an error, and not found twice.
    #expect(
      report.findings.first { $0.rule.id == "PK6016" }?.details == [
        "'index.html', line 1, refers to 'js/Main.js?v=1#a'; the pack has 'js/main.js'",
        "'index.html', line 2, refers to 'gone.png', which the pack does not have",
        "'index.html', line 3, refers to 'Caf%C3%A9.png'; the pack has 'café.png'",
        "'index.html', line 4, refers to '%zz', which the pack does not have",
      ])
  }

  @Test("an unresolved merge is found in a file of several frames, with any number of threads", arguments: [1, 2, 5])
  func farMerge(jobs: Int) async throws {
    let large = String(repeating: "0123456789abcde\n", count: 300_000)
    let dist = try await DistSample([
      ("core", SampleTree(["z.txt": .init(Array("x\n<<<<<<< HEAD\n\(large)=======\n\(large)>>>>>>> b\n".utf8)), ".env": .init([1])]))
    ])
    let report = try await dist.report { $0.jobs = jobs }
    #expect(ids(report) == ["PK6004", "PK6008"])
    #expect(report.findings.last?.headline == "core: the merge conflict in 'z.txt', line 2, column 1, is not resolved")
  }

  @Test("a release of many packs is verified like one of few packs")
  func manyPacks() async throws {
    let dist = try await DistSample([("game-0000", SampleTree(["a.bin": .init(SeededGenerator(seed: 5).bytesOfNoise(100_000))]))])
    let first = dist.manifest.packs[0]
    // Links to one file.
    for number in 1..<300 {
      var pack = first
      pack.id = "game-" + String(10_000 + number).dropFirst()
      pack.url = "https://cdn.example.com/packs/\(pack.id)-\(pack.sha256.prefix(8).hex).pack"
      try FileManager.default.linkItem(atPath: dist.directory(dist.file(0)), toPath: dist.directory("dist/\(pack.fileName)"))
      dist.manifest.packs.append(pack)
    }
    try dist.write()
    let report = try await dist.report(isQuick: true)
    #expect(report.findings.count { $0.rule.id == "PK2008" } == 299)
    #expect(report.findings.allSatisfy { $0.rule.id == "PK2008" || $0.level == .note }, "all packs but the first have its name")
  }

  @Test("a report does not replace an input, a key or a file of the release")
  func reportPlaces() async throws {
    let dist = try await DistSample()
    for (name, text) in [
      ("a.key", "pkk1-00"), ("b.pem", "-----BEGIN PRIVATE KEY-----\n"), ("packer.yml", "app: {}\n"), ("old.xml", "<?xml"),
    ] {
      try dist.directory.write(text.utf8, to: name)
    }
    func refusal(_ name: String) -> PackError? {
      do throws(PackError) {
        try ReportFile.check(dist.directory(name), against: [dist.directory("packer.yml")], release: dist.directory("dist"))
        return nil
      } catch {
        return error
      }
    }
    for name in ["a.key", "b.pem", "packer.yml", "../\(dist.directory("").split(separator: "/").last ?? "")/packer.yml", "dist/verify.xml"]
    {
      #expect(refusal(name)?.code == .usage, "\(name)")
    }
    for name in ["old.xml", "new.xml", "nowhere/new.xml"] { #expect(refusal(name) == nil, "\(name)") }
  }

  @Test("a target that is not a release is an error, and no rule is checked")
  func noRelease() async throws {
    let dist = try await DistSample()
    let target = dist.directory("build")
    let error = await #expect(throws: PackError.self) { try await dist.report { $0.target = target } }
    #expect(error?.code == .missingInput)
    await #expect(throws: PackError.self) { try await dist.report { $0.only = ["PK9"] } }
  }
}

extension SeededGenerator {
  /// Returns bytes that cannot be compressed.
  fileprivate func bytesOfNoise(_ count: Int) -> [UInt8] {
    var generator = self
    return generator.bytes(count)
  }
}
