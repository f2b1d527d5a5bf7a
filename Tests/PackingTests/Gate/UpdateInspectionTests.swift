import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate
@testable import PackProject

extension UpdatedProject {
  /// Verifies the release with all its bytes.
  fileprivate func report(_ change: (inout ReleaseVerification) -> Void = { _ in }) async throws -> ReleaseReport {
    var verification = ReleaseVerification(directory("dist"), now: ReleaseProject.time(2).now)
    verification.trusted = TrustedKeys([try ReleaseProject.signingKey(0).publicKey])
    verification.configuration = try PackerConfiguration.read(directory("packer.yml"))
    verification.lock = directory("packer.lock.json")
    verification.jobs = 2
    change(&verification)
    return try await verification.run(key: Shared(try TestSupport.key(filledFrom: 0)))
  }

  /// The rules about updates and files that a release breaks.
  fileprivate func rules(_ change: (inout ReleaseVerification) -> Void = { _ in }) async throws -> [String] {
    try await report(change).findings.map(\.rule.id).filter { $0.hasPrefix("PK2") || ["PK3023", "PK6012"].contains($0) }
  }
}

@Suite("The checks of deltas", .bounded)
struct UpdateInspectionTests {
  @Test("find nothing in a release that was just built, and say what players download")
  func clean() async throws {
    let sample = try UpdatedProject()
    try await sample.update()
    #expect(try await sample.rules() == [])
    #expect(try await sample.rules { $0.isQuick = true } == [])
    let delta = try #require(try sample.deltas().first)
    let report = try await sample.report()
    #expect(report.downloads.map(\.size) == [delta.size])
    #expect(report.facts.first { $0.name == "updates" }?.value.contains("from manifest 1 (") == true)
  }

  @Test("note that a delta was not applied if its base is missing or damaged, and look at nothing of the kind with --quick")
  func noBase() async throws {
    let sample = try UpdatedProject()
    try await sample.update()
    let old = try #require(try sample.project.lock().released?.packs.first { $0.id == "core" })
    let path = "released/\(ManifestPack.publishedName("core", old.sha256))"
    var bytes = try #require(sample.directory.bytes(of: path))
    bytes[bytes.count - 20] ^= 1
    try sample.directory.write(bytes, to: path)
    #expect(try await sample.rules() == ["PK2026"])
    try sample.project.remove(path)
    #expect(try await sample.rules() == ["PK2026"])
    #expect(try await sample.rules { $0.isQuick = true } == [])
  }

  @Test("find a delta that is missing, cut, changed, or another file", arguments: ["PK2001", "PK2003", "PK2004"])
  func wrongFile(_ rule: String) async throws {
    let sample = try UpdatedProject()
    try await sample.update()
    let path = sample.path(of: try #require(try sample.deltas().first))
    var bytes = try #require(sample.directory.bytes(of: path))
    switch rule {
    case "PK2001": try sample.project.remove(path)
    case "PK2003": try sample.directory.write(bytes.dropLast(), to: path)
    default:
      bytes[bytes.count / 2] ^= 1
      try sample.directory.write(bytes, to: path)
    }
    #expect(try await sample.rules() == [rule])
    #expect(try await sample.rules { $0.isQuick = true } == [rule])
  }

  /// Returns a project that has what a test is about.
  private func sample(for kind: String) throws -> UpdatedProject {
    let sample = try UpdatedProject()
    if kind == "shard" {
      try sample.project.configure(UpdatedProject.configuration(nil).replacing("delivery: prefetch", with: "delivery: onDemand"))
    }
    return sample
  }

  /// Returns the path of a shard, of a delta or of the pack that it leads to.
  private func path(of kind: String, in sample: UpdatedProject) throws -> String {
    let manifest = try sample.project.manifest()
    switch kind {
    case "shard": return "dist/\(try #require(manifest.catalogue.first).fileName)"
    case "delta": return sample.path(of: try #require(try sample.deltas().first))
    default: return "dist/\(try #require(manifest.packs.first { $0.id == "core" }).fileName)"
    }
  }

  @Test(
    "say what is in the place of a shard, a delta or a pack",
    arguments: ["shard", "delta", "pack"],
    [
      ("a directory", "is a directory, not a file, but "), ("a pipe", "is a pipe, a socket or a device, not a file, but "),
      ("a link to itself", "cannot be read: "), ("nothing", "does not exist, but "),
    ])
  func otherThings(_ kind: String, _ thing: (name: String, words: String)) async throws {
    let sample = try sample(for: kind)
    try await sample.update()
    let path = try path(of: kind, in: sample)
    try sample.project.remove(path)
    switch thing.name {
    case "a directory": try sample.directory.makeDirectory(path)
    case "a pipe": #expect(unsafe mkfifo(sample.directory(path), 0o600) == 0)
    case "a link to itself":
      try FileManager.default.createSymbolicLink(atPath: sample.directory(path), withDestinationPath: String(path.dropFirst("dist/".count)))
    default: break
    }
    for isQuick in [false, true] {
      let findings = try await sample.report { $0.isQuick = isQuick }.findings.filter { ["PK2001", "PK2021"].contains($0.rule.id) }
      #expect(findings.count == 1 && findings[0].message.contains("\(sample.directory(path)) \(thing.words)"), "\(findings.map(\.message))")
    }
  }

  @Test("report a shard, a delta or a pack that may not be read, and do not call it damaged", arguments: ["shard", "delta", "pack"])
  func unreadable(_ kind: String) async throws {
    let sample = try sample(for: kind)
    try await sample.update()
    let path = sample.directory(try path(of: kind, in: sample))
    let files = FaultyFiles { $0.operation == .open && $0.name == path ? .failure(.notPermitted) : nil }
    let findings = try await sample.report { $0.files = files }.findings.filter { $0.file == path }
    #expect(findings.map(\.rule.id) == [kind == "shard" ? "PK2022" : "PK2007"])
    #expect(findings.first?.kind == .other && findings.first?.message == "\(path) cannot be read: permission denied")
  }

  @Test("find a delta to other content: the manifest lists one that leads to the release before")
  func otherTarget() async throws {
    let sample = try UpdatedProject()
    try await sample.update()
    let delta = try #require(try sample.deltas().first)
    let bytes = try #require(sample.directory.bytes(of: sample.path(of: delta)))
    try sample.record()
    try sample.change(3)
    try await sample.project.build(on: 3)
    // Under the name of the entry, as a server with mixed files has it.
    var manifest = try sample.project.manifest()
    for number in manifest.packs.indices where manifest.packs[number].id == "core" { manifest.packs[number].deltas = [delta] }
    try sample.directory.write(bytes, to: sample.path(of: delta))
    let signed = try manifest.signedBytes()
    let document = try SignedManifest(
      signed: signed, signatures: [SignedManifest.signature(of: signed, by: try ReleaseProject.signingKey(0))])
    try sample.directory.write(document.bytes, to: "dist/manifest.json")
    let finding = try #require(try await sample.report().findings.first { $0.rule.id == "PK2025" })
    #expect(finding.message.contains("it has version 2, but the pack has 3"))
    #expect(finding.details.contains { $0.hasPrefix("it makes content ") })
  }

  @Test("find an update that is larger than packer.yml allows")
  func largestUpdate() async throws {
    let sample = try UpdatedProject()
    try await sample.update()
    let size = try #require(try sample.deltas().first?.size)
    try sample.configure("{largestUpdate: \(size)}")
    #expect(try await sample.rules() == [])
    try sample.configure("{largestUpdate: \(size - 1)}")
    let finding = try #require(try await sample.report().findings.first { $0.rule.id == "PK3023" })
    #expect(finding.actual == size && finding.limit == size - 1 && finding.pack == "core" && finding.kind == .budget)
  }

  @Test("name archives, pictures that were encoded again, and stamps in many files", arguments: [1, 2, 3])
  func burdens(_ fault: Int) async throws {
    let sample = try UpdatedProject()
    func fill(_ seed: UInt64) throws {
      var (random, fixed) = (SeededGenerator(seed: seed), SeededGenerator(seed: 77))
      switch fault {
      case 1: try sample.project.add("core/levels.zip", random.bytes(100_000))
      case 2: try sample.project.add("core/atlas.png", random.bytes(100_000 + Int(seed)))
      default:
        for number in 0..<40 {
          try sample.project.add("core/\(number).dat", fixed.bytes(3000) + random.bytes(8))
        }
        // So that the update is large enough for a person to care.
        try sample.project.add("core/new.bin", random.bytes(80_000 + Int(seed)))
      }
    }
    try fill(31)
    try await sample.project.build()
    try sample.record()
    try fill(32)
    try await sample.project.build(on: 2)
    let findings = try await sample.report().findings.filter { $0.rule.id == "PK6012" }
    let words = ["the changed archive 'levels.zip'", "'atlas.png', 100 kB, has the size of before", "40 files differ in a few bytes each"]
    #expect(findings.count == 1 && findings[0].message.contains(words[fault - 1]), "\(findings.map(\.message))")
    // What is out cannot be mended any more.
    try sample.record()
    #expect(try await sample.report().findings.allSatisfy { $0.rule.id != "PK6012" })
  }

  @Test("do not take an honest change for a burden")
  func honest() async throws {
    let sample = try UpdatedProject()
    var random = SeededGenerator(seed: 5)
    let picture = random.bytes(100_000)
    try sample.project.add("core/atlas.png", picture)
    try sample.project.add("core/small.zip", random.bytes(1000))
    try await sample.project.build()
    try sample.record()
    // A picture to which something was added, a new one, a small archive, and few files with a stamp.
    try sample.project.add("core/atlas.png", picture + random.bytes(90_000))
    try sample.project.add("core/other.png", random.bytes(100_000))
    try sample.project.add("core/small.zip", random.bytes(1000))
    try await sample.project.build(on: 2)
    #expect(try await sample.rules() == [])
  }
}
