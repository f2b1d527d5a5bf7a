import Foundation
import PackCrypto
import PackFiles
import PackFormat
import PackManifest
import PackReading
import TestSupport
import Testing

@testable import PackBuild
@testable import PackProject

@Suite("The units of a plan", .bounded)
struct UnitTests {
  private static let maker = "1.0"
  private static let configuration = "perPackKeys: true\n" + ReleaseProject.configuration

  private static func rootKey() throws(PackError) -> PackKey {
    let bytes = (0..<32).map { UInt8($0) }
    return try PackKey(bytes: bytes.byteSpan)
  }

  /// Returns a build of a project, and its plan.
  private func plan(_ project: ReleaseProject, on day: Int64 = 1, isFixed: Bool = true) async throws -> BuildPlan {
    var planned: ReleaseBuild?
    let report = try await project.build(on: day, isFixed: isFixed, signers: []) {
      $0.isTrial = true
      planned = $0
    }
    return try BuildPlan(of: try #require(planned), report, maker: Self.maker)
  }

  private func work(_ project: ReleaseProject, _ plan: BuildPlan, maker: String = maker) throws(PackError) -> UnitBuild {
    var build = ReleaseBuild(
      try PackerConfiguration.read(project.directory("packer.yml"), sources: .optional), time: ReleaseProject.time(20, isFixed: false))
    build.jobs = 1
    build.files = FaultyFiles()
    return try UnitBuild(plan, build, maker: maker)
  }

  /// Makes a unit with the key of its pack.
  @discardableResult
  private func make(
    _ number: Int, of plan: BuildPlan, in project: ReleaseProject, into folder: String
  ) async throws(PackError) -> (record: UnitRecord, wasThere: Bool) {
    let key = try Self.rootKey().packKey(for: try PackName(plan.units[number - 1].identity.id))
    return try await work(project, plan).run(number, key: key, into: project.directory(folder))
  }

  @discardableResult
  private func assemble(
    _ parts: [String], of plan: BuildPlan, in project: ReleaseProject, to output: String = "assembled", on day: Int64 = 30
  ) async throws(PackError) -> ReleaseBuildReport {
    let ready = try UnitParts(parts.map { project.directory($0) }, of: plan, at: "plan.json", files: FaultyFiles())
    return try await project.build(on: day) {
      $0.output = project.directory(output)
      $0.time = BuildTime(plan.time, isFixed: plan.isTimeFixed)
      $0.ready = ready
    }
  }

  private func refusal(_ body: () async throws -> Void) async throws -> PackError {
    do {
      try await body()
    } catch {
      return try #require(error as? PackError)
    }
    throw PackError(.internalError, "nothing was refused")
  }

  @Test("are the same wherever they are planned, survive reading, and hold the id of each key and no key")
  func planned() async throws {
    let (one, other) = (try ReleaseProject(Self.configuration), try ReleaseProject(Self.configuration))
    let plan = try await plan(one)
    #expect(plan.units.map(\.identity.id) == ["core", "game-kart", "game-poker", "movie", "voices-de"])
    #expect(plan.units.map(\.source) == ["build/core", "build/games/kart", "build/games/poker", "build/movie", "build/voices"])
    #expect(Set(plan.units.map(\.identity.keyID)).count == 5)
    #expect(try await self.plan(other).document == plan.document)
    try OutputFile.write(plan.document, to: one.directory("plan.json"), files: FaultyFiles())
    #expect(try BuildPlan(reading: one.directory("plan.json")) == plan)
    #expect(try BuildPlan(reading: one.directory("plan.json")).digest() == plan.digest())
    #expect(!String(decoding: plan.document, as: UTF8.self).contains("pkk1-"))
    #expect(try await self.plan(one, on: 2).digest() != plan.digest())
  }

  @Test("make the release of one build, however they are shared, in any order, and twice", arguments: [true, false])
  func partitions(isFixed: Bool) async throws {
    let project = try ReleaseProject(Self.configuration)
    let plan = try await plan(project, isFixed: isFixed)
    try await project.build(on: 1, isFixed: isFixed)
    let expected = project.contents()
    try project.remove("dist")
    let partitions: [[[Int]]] = [[[1, 2, 3, 4, 5]], [[5, 2], [3], [4, 1]], [[1, 2, 3], [3, 4, 5, 1]]]
    for (index, partition) in partitions.enumerated() {
      for (share, numbers) in partition.enumerated() {
        for number in numbers {
          #expect(try await !make(number, of: plan, in: project, into: "parts-\(index)-\(share)").wasThere)
        }
      }
      let parts = partition.indices.map { "parts-\(index)-\($0)" }.reversed()
      let report = try await assemble(Array(parts), of: plan, in: project, to: "dist-\(index)")
      #expect(report.ids(.packed).count == 5)
      #expect(project.contents(of: "dist-\(index)") == expected)
    }
    // Single units as parts, and the release that is there already.
    try await assemble((1...5).map { "parts-0-0/\($0)" }, of: plan, in: project, to: "dist-0")
    #expect(project.contents(of: "dist-0") == expected)
  }

  @Test("that are there already are left, and a damaged one or one of another plan is made again")
  func present() async throws {
    let project = try ReleaseProject(Self.configuration)
    let plan = try await plan(project)
    let made = try await make(3, of: plan, in: project, into: "parts")
    let before = project.contents(of: "parts")
    let again = try await make(3, of: plan, in: project, into: "parts")
    #expect(again.wasThere && again.record == made.record && !made.wasThere)
    let file = "parts/3/\(made.record.file)"
    try project.remove(file)
    try project.directory.write([1, 2, 3], to: file)
    #expect(try await !make(3, of: plan, in: project, into: "parts").wasThere)
    #expect(project.contents(of: "parts") == before)
    let later = try await self.plan(project, on: 2)
    #expect(try await !make(3, of: later, in: project, into: "parts").wasThere)
    try project.directory.write([], to: "parts/4/notes.txt")
    #expect(try await refusal { try await make(4, of: plan, in: project, into: "parts") }.code == .outputExists)
    #expect(project.directory.bytes(of: "parts/4/notes.txt") != nil)
  }

  @Test("are refused if sources, configuration, key or packer are not those of the plan, and leave nothing behind")
  func refusals() async throws {
    let project = try ReleaseProject(Self.configuration)
    let plan = try await plan(project)
    let names = project.directory.names()
    let root = try await refusal {
      _ = try await work(project, plan).run(2, key: Self.rootKey(), into: project.directory("parts"))
    }
    #expect(
      root.code == .wrongKey && root.message.contains("unit 2 (pack 'game-kart')")
        && root.advice == .developer("make it with: packer key derive --pack game-kart"))
    let other = try await refusal {
      let key = try Self.rootKey().packKey(for: try PackName("core"))
      _ = try await work(project, plan).run(2, key: key, into: project.directory("parts"))
    }
    #expect(other.code == .wrongKey)
    let maker = try await refusal { _ = try work(project, plan, maker: "1.1") }
    #expect(maker.code == .wrongPlan && maker.message.contains("packer 1.1"))
    let inside = try await refusal { try await make(1, of: plan, in: project, into: "build/core/parts") }
    #expect(inside.code == .usage && inside.message.contains("would be packed"))
    try project.add("games/kart/new.txt", [1])
    let changed = try await refusal { try await make(2, of: plan, in: project, into: "parts") }
    #expect(changed.code == .wrongPlan && changed.message.contains("unit 2 (pack 'game-kart') has other files"))
    try project.remove("build/games/poker")
    let absent = try await refusal { try await make(3, of: plan, in: project, into: "parts") }
    #expect(absent.code == .wrongPlan && absent.message.contains("has no source here: build/games/poker"))
    try project.configure(Self.configuration + "validity: 90 days\n")
    let configured = try await refusal { try await make(1, of: plan, in: project, into: "parts") }
    #expect(configured.code == .wrongPlan && configured.message.contains("packer.yml"))
    #expect(project.directory.names() == names)
  }

  @Test("leave nothing or a whole part if a file operation fails")
  func failures() async throws {
    let project = try ReleaseProject(Self.configuration)
    let plan = try await plan(project)
    let key = try Self.rootKey().packKey(for: try PackName("game-kart"))
    let counting = FaultyFiles()
    func run(_ files: FaultyFiles) async throws(PackError) {
      var build = ReleaseBuild(try PackerConfiguration.read(project.directory("packer.yml")), time: ReleaseProject.time())
      (build.jobs, build.files) = (1, files)
      _ = try await UnitBuild(plan, build, maker: Self.maker).run(2, key: key, into: project.directory("parts"))
    }
    try await run(counting)
    let whole = project.contents(of: "parts")
    #expect(whole.count == 2)
    for number in stride(from: 0, to: counting.calls.count, by: 5) {
      try project.remove("parts")
      try? await run(FaultyFiles.failing(at: number))
      let found = project.contents(of: "parts").filter { !$0.key.hasPrefix(".") }
      #expect(found.isEmpty || found == whole, "\(counting.calls[number])")
      try project.directory.makeDirectory("parts")
    }
  }

  @Test("that are missing are named, with the command that builds them, and nothing is written")
  func missing() async throws {
    let project = try ReleaseProject(Self.configuration)
    let plan = try await plan(project)
    for number in [1, 4] { try await make(number, of: plan, in: project, into: "parts") }
    let names = project.directory.names()
    let error = try await refusal { try await assemble(["parts"], of: plan, in: project) }
    #expect(error.code == .missingInput && error.message == "3 of 5 units are missing: 2-3,5")
    #expect(error.advice == .developer("packer build --plan plan.json --unit 2-3,5"))
    #expect(try await refusal { try await assemble(["build"], of: plan, in: project) }.message.contains("holds no unit"))
    #expect(project.directory.names() == names)
  }

  @Test("of another plan, of other sources, damaged, or different twice are refused, by number")
  func foreign() async throws {
    let project = try ReleaseProject(Self.configuration)
    let (plan, later) = (try await plan(project), try await plan(project, on: 2))
    for number in 1...5 { try await make(number, of: plan, in: project, into: "parts") }
    try await make(3, of: later, in: project, into: "later")
    let other = try await refusal { try await assemble(["parts", "later"], of: plan, in: project) }
    #expect(other.code == .wrongPlan && other.message.contains("later/3, unit 3 (pack 'game-poker'), is of another plan"))

    // A damaged file, and a record that fits it.
    let record = try #require(try UnitRecord(in: project.directory("parts/3"), files: FaultyFiles()))
    let bytes = try #require(project.directory.bytes(of: "parts/3/\(record.file)"))
    var damaged = bytes
    damaged[damaged.count - 300] ^= 1
    try project.remove("parts/3/\(record.file)")
    try project.directory.write(damaged, to: "parts/3/\(record.file)")
    let changed = try await refusal { try await assemble(["parts"], of: plan, in: project) }
    #expect(changed.code == .digestMismatch && changed.message.contains("unit 3 (pack 'game-poker')"))
    var forged = record
    forged.sha256 = try CryptoBackends.standard.digest(of: damaged.byteSpan)
    try project.directory.write(damaged, to: "forged/\(forged.file)")
    try project.directory.write(forged.document, to: "forged/unit.json")
    let broken = try await refusal { try await assemble(["parts/1", "parts/2", "forged", "parts/4", "parts/5"], of: plan, in: project) }
    #expect(broken.message.contains("unit 3 (pack 'game-poker')"), "\(broken)")
    #expect([.authenticationFailed, .damagedPayload].contains(broken.code))
    try project.directory.write(bytes, to: "parts/3/\(record.file)")
    let doubled = try await refusal { try await assemble(["parts", "forged"], of: plan, in: project) }
    #expect(doubled.code == .wrongPlan && doubled.message.contains("although both must be the same"))
    #expect(project.directory.bytes(of: "assembled/manifest.json") == nil)
  }

  @Test("with a pack of other content are refused, although its maker had the key")
  func otherContent() async throws {
    let project = try ReleaseProject(Self.configuration)
    let plan = try await plan(project)
    for number in 1...5 { try await make(number, of: plan, in: project, into: "parts") }
    var job = PackJob(source: project.directory("build/core"), output: project.directory("other.pack"), name: try PackName("movie"))
    job.files = FaultyFiles()
    _ = try await job.run(key: try Self.rootKey().packKey(for: try PackName("movie")))
    let bytes = try #require(project.directory.bytes(of: "other.pack"))
    var record = try #require(try UnitRecord(in: project.directory("parts/4"), files: FaultyFiles()))
    record.sha256 = try CryptoBackends.standard.digest(of: bytes.byteSpan)
    record.size = UInt64(bytes.count)
    try project.directory.write(bytes, to: "parts/4/\(record.file)")
    try project.remove("parts/4/unit.json")
    try project.directory.write(record.document, to: "parts/4/unit.json")
    let error = try await refusal { try await assemble(["parts"], of: plan, in: project) }
    #expect(error.code == .wrongPack && error.message.contains("unit 4 (pack 'movie')"), "\(error)")
    // A record that says so is refused, too.
    record.contentRoot[0] ^= 1
    try project.remove("parts/4/unit.json")
    try project.directory.write(record.document, to: "parts/4/unit.json")
    #expect(try await refusal { try await assemble(["parts"], of: plan, in: project) }.message.contains("is made from other sources"))
  }

  @Test("are refused if the sources changed after the plan, and a pack that is in no unit needs a new plan")
  func changedLater() async throws {
    let project = try ReleaseProject(Self.configuration)
    try await project.build()
    try project.add("movie/intro.mp4", [1, 2, 3])
    let plan = try await plan(project)
    #expect(plan.units.map(\.identity.id) == ["movie"])
    try await make(1, of: plan, in: project, into: "parts")
    let elsewhere = try await refusal { try await assemble(["parts"], of: plan, in: project) }
    #expect(elsewhere.code == .wrongPlan && elsewhere.message.contains("pack 'core' has to be packed, and is in no unit"))
    try project.add("movie/intro.mp4", [1, 2])
    let changed = try await refusal { try await assemble(["parts"], of: plan, in: project, to: "dist") }
    #expect(changed.code == .wrongPlan && changed.message.contains("unit 1 (pack 'movie') has other files than when the plan was made"))
  }

  @Test("get the versions that one build gives, also if their compression makes other bytes than were released")
  func versions() async throws {
    let project = try ReleaseProject(Self.configuration)
    try await project.build()
    try project.record()
    // As if another zstd had made the released bytes.
    var lock = try project.lock()
    lock.released?.packs[1].sha256[0] ^= 1
    try project.remove("packer.lock.json")
    try project.directory.write(lock.document, to: "packer.lock.json")
    try project.add("movie/intro.mp4", [1, 2, 3])
    try project.remove("dist")
    let plan = try await plan(project, on: 2)
    #expect(plan.units.map(\.identity.version) == [1, 1, 1, 2, 1])
    try await project.build(on: 2)
    let expected = project.contents()
    #expect(try project.pack("game-kart")?.version == 2 && project.pack("movie")?.version == 2)
    try project.remove("dist")
    for number in 1...5 { try await make(number, of: plan, in: project, into: "parts") }
    let report = try await assemble(["parts"], of: plan, in: project, to: "dist")
    #expect(project.contents() == expected)
    #expect(report.remarks.contains { $0.message.contains("becomes version 2") })
    var build = ReleaseBuild(try PackerConfiguration.read(project.directory("packer.yml")), time: ReleaseProject.time())
    build.files = FaultyFiles()
    try plan.checkLock(of: build)
    try project.directory.write([32] + lock.document, to: "packer.lock.json")
    #expect(throws: PackError.self) { try plan.checkLock(of: build) }
  }

  @Test("are in exactly one share each, and shares cost about the same", arguments: [1, 2, 3, 7, 40])
  func shares(count: Int) async throws {
    var plan = try await plan(ReleaseProject(Self.configuration))
    plan.units = (1...40).map { number in
      var unit = plan.units[0]
      unit.cost = UInt64(number * number)
      return unit
    }
    let shares = (1...count).map { plan.units(ofShare: $0, of: count) }
    #expect(shares.flatMap(\.self).sorted() == Array(1...40))
    let loads = shares.map { $0.reduce(0 as UInt64) { $0 + plan.units[$1 - 1].cost } }
    let total = loads.reduce(0, +)
    #expect((loads.max() ?? 0) <= max(total / UInt64(count) * 11 / 10, 1600))
    #expect(plan.units(ofShare: 41, of: 100).isEmpty)
  }

  @Test("are named by numbers and ranges", arguments: [("1", [1]), ("3,1", [3, 1]), ("2-4,9", [2, 3, 4, 9])])
  func numbers(text: String, numbers: [Int]) throws {
    #expect(try UnitNumbers.parse(text, upTo: 9) == numbers)
    #expect(try UnitNumbers.parse(UnitNumbers.text(numbers.sorted()), upTo: 9) == numbers.sorted())
  }

  @Test("are not named by anything else", arguments: ["", "0", "-1", "4-2", "1-2-3", "x", "1,,2", "10", "1-10", "9999999999999999999"])
  func otherNumbers(text: String) {
    #expect(throws: PackError.self) { try UnitNumbers.parse(text, upTo: 9) }
  }

  @Test("are shared by legal shares only", arguments: ["", "1", "0/2", "3/2", "1/0", "1/2/3", "1/10001", "a/b"])
  func otherShares(text: String) throws {
    #expect(throws: PackError.self) { try UnitNumbers.share(text) }
    #expect(try UnitNumbers.share("2/10") == (2, of: 10))
  }
}
