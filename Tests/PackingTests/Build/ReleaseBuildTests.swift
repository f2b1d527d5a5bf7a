import Foundation
import TestSupport
import Testing

@testable import PackBase
@testable import PackBuild
@testable import PackProject
@testable import PackPublish

@Suite("A release", .bounded)
struct ReleaseBuildTests {
  private static let all = ["core", "game-kart", "game-poker", "movie", "voices-de"]

  @Test("holds only packs named by their content, the manifest that lists them, and the files for the app and for people")
  func files() async throws {
    let project = try ReleaseProject()
    let report = try await project.build()
    #expect(report.ids(.packed) == Self.all)
    let manifest = try project.manifest()
    let others = ["Info.fragment.plist", "budget.json", "budget.md", "budget.txt", "build.json", "manifest.json", "packages.json"]
    let entries = try project.packs()
    let packs = entries.map { "\($0.id)-\($0.sha256.prefix(8).hex).pack" }
    #expect(project.directory.names(in: "dist") == (packs + others + manifest.catalogue.map(\.fileName)).sorted())
    #expect(entries.map(\.url) == packs.map { "https://cdn.example.com/packs/\($0)" })
    #expect(entries.map(\.id) == Self.all && entries.allSatisfy { $0.version == 1 })
    #expect(manifest.packs == entries.filter { $0.delivery != .onDemand })
    #expect(manifest.version == 1 && manifest.expires.secondsSince1970 - (manifest.issued?.secondsSince1970 ?? 0) == 180 * 86_400)
    #expect(project.directory.names() == ["build", "dist", "packer.yml"])
    for (entry, file) in zip(entries, packs) {
      let pack = try Pack.open(project.directory("dist/\(file)"), key: sampleKey())
      try pack.check(against: entry)
      try pack.checkDigest(against: entry)
    }
    let core = try #require(manifest.packs.first)
    #expect(core.delivery == .essential && core.tags == ["boot"] && core.name == "Core" && core.description == "What all games share")
    #expect(entries[4].language == "de" && entries[3].install == .packed)
  }

  @Test("is signed with each key it is built with", arguments: [[0], [0, 9], [9, 0]] as [[UInt8]])
  func signatures(signers: [UInt8]) async throws {
    let project = try ReleaseProject()
    try await project.build(signers: signers)
    let document = try SignedManifest(project.directory.bytes(of: "dist/manifest.json") ?? [])
    for signer in signers {
      let publicKey = try ReleaseProject.signingKey(signer).publicKey
      #expect(try document.verify(trusting: [publicKey]).signers == [publicKey.id])
    }
    #expect(document.signatures.count == signers.count)
  }

  @Test("without changes reuses all packs and is the same byte for byte, whatever the time")
  func again() async throws {
    let project = try ReleaseProject()
    try await project.build(on: 1, isFixed: false)
    let before = project.contents()
    let report = try await project.build(on: 5, isFixed: false)
    #expect(report.ids(.reused) == Self.all)
    #expect(report.release?.isManifestUnchanged == true)
    #expect(project.contents() == before)
    #expect(project.directory.names() == ["build", "dist", "packer.yml"])
  }

  @Test("with one changed file packs one pack, and equals a new build")
  func touched() async throws {
    let project = try ReleaseProject()
    try await project.build()
    try project.add("games/kart/index.html", Array("<title>karts</title>".utf8))
    let report = try await project.build()
    #expect(report.ids(.packed) == ["game-kart"])
    #expect(report.items[1].reason == "content changed")
    let built = project.contents()
    try project.remove("dist")
    try await project.build()
    #expect(project.contents() == built)
  }

  @Test("is the same in another directory, with another order in the configuration, and with any number of threads")
  func elsewhere() async throws {
    let one = try ReleaseProject()
    try await one.build { $0.jobs = 1 }
    let lines = ReleaseProject.configuration.split(separator: "\n")
    let other = try ReleaseProject((lines.prefix(4) + lines.dropFirst(4).reversed()).joined(separator: "\n") + "\n")
    try await other.build { $0.jobs = 5 }
    #expect(one.contents() == other.contents())
  }

  @Test("depends on the fixed time, and not on the times of an earlier build")
  func fixedTime() async throws {
    let project = try ReleaseProject()
    try await project.build(on: 1, isFixed: false)
    try await project.build(on: 3)
    let other = try ReleaseProject()
    try await other.build(on: 3)
    #expect(project.contents() == other.contents())
  }

  @Test("with a damaged or missing pack makes that pack again")
  func damaged() async throws {
    let project = try ReleaseProject()
    try await project.build()
    let before = project.contents()
    let name = try #require(before.keys.first { $0.hasPrefix("movie-") })
    var bytes = before[name] ?? []
    bytes[bytes.count / 2] ^= 1
    try project.directory.write(bytes, to: "dist/\(name)")
    let report = try await project.build()
    #expect(report.ids(.packed) == ["movie"])
    #expect(report.items[3].reason == "its file in \(project.directory("dist")) was changed")
    #expect(project.contents() == before)
    try project.remove("dist/\(name)")
    let trial = try await project.build(signers: []) { $0.isTrial = true }
    #expect(trial.items[3].reason == "its file in \(project.directory("dist")) is missing")
    let again = try await project.build()
    #expect(again.ids(.packed) == ["movie"])
    #expect(again.items[3].reason == trial.items[3].reason)
    #expect(project.contents() == before)
  }

  @Test("built in part names the command that repairs everything, however many packs are damaged or missing")
  func partialOfDamaged() async throws {
    let project = try ReleaseProject()
    try await project.build()
    let names = project.contents().keys.filter { $0.hasSuffix(".pack") }.sorted()
    for name in names { try project.directory.write([1], to: "dist/\(name)") }
    let damaged = await project.refusal { $0.wanted = ["core"] }
    #expect(damaged?.code == .digestMismatch && damaged?.advice?.description == "build all packs: packer build")
    for name in names { try project.remove("dist/\(name)") }
    let missing = await project.refusal { $0.wanted = ["core"] }
    #expect(missing?.code == .missingInput && missing?.advice?.description == "build all packs: packer build")
    #expect(missing?.message.hasSuffix(".pack does not exist") == true)
    #expect(try await project.build().ids(.packed) == Self.all)
  }

  @Test("copies packs if the file system has no hard links")
  func copies() async throws {
    let project = try ReleaseProject()
    try await project.build()
    let before = project.contents()
    let report = try await project.build { $0.files = FaultyFiles.failing(.link, with: .unsupported) }
    #expect(report.ids(.reused) == Self.all)
    #expect(project.contents() == before)
  }

  @Test("replaces the earlier one even if the file system cannot exchange directories")
  func withoutExchange() async throws {
    let project = try ReleaseProject()
    try await project.build()
    try project.add("movie/intro.mp4", [1])
    try await project.build { $0.files = FaultyFiles.failing(.exchange, with: .unsupported) }
    let built = project.contents()
    #expect(project.directory.names() == ["build", "dist", "packer.yml"])
    try project.remove("dist")
    try await project.build()
    #expect(project.contents() == built)
  }

  @Test("is not changed by a trial run")
  func trial() async throws {
    let project = try ReleaseProject()
    let first = try await project.build(signers: []) { $0.isTrial = true }
    #expect(first.ids(.packed) == Self.all && first.release == nil)
    #expect(project.directory.names() == ["build", "packer.yml"])
    try await project.build()
    let before = project.contents()
    try project.add("voices/hello.wav", [1])
    let second = try await project.build(signers: []) { $0.isTrial = true }
    #expect(second.ids(.packed) == ["voices-de"] && second.items[4].reason == "content changed")
    #expect(project.contents() == before)
  }

  // MARK: Parts

  @Test("built in part reuses the other packs without reading their sources")
  func partial() async throws {
    let project = try ReleaseProject()
    try await project.build()
    try project.add("games/kart/index.html", [1])
    try project.add("games/poker/index.html", [2])
    try project.remove("build/movie/intro.mp4")
    let report = try await project.build { $0.wanted = ["game-kart"] }
    #expect(report.ids(.packed) == ["game-kart"])
    #expect(report.ids(.kept) == ["core", "game-poker", "movie", "voices-de"])
    let whole = try await project.build()
    #expect(whole.ids(.packed) == ["game-poker", "movie"])
  }

  @Test("cannot be built in part if the other packs are missing, damaged, or made with another key")
  func partialRefused() async throws {
    let project = try ReleaseProject()
    #expect(await project.refusal { $0.wanted = ["core"] }?.code == .missingInput)
    #expect(await project.refusal { $0.wanted = ["cor"] }?.code == .usage)
    try await project.build()
    let other = await project.refusal(key: 7) { $0.wanted = ["core"] }
    #expect(other?.code == .wrongKey && other?.advice?.description.contains("packer build") == true)
    let name = try #require(project.contents().keys.first { $0.hasPrefix("movie-") })
    try project.directory.write([1, 2, 3], to: "dist/\(name)")
    let before = project.contents()
    #expect(await project.refusal { $0.wanted = ["core"] }?.code == .digestMismatch)
    #expect(project.contents() == before)
  }

  // MARK: Refusals

  @Test("never replaces files that packer did not make")
  func foreign() async throws {
    let project = try ReleaseProject()
    try project.directory.write([1], to: "dist/notes.txt")
    #expect(await project.refusal()?.code == .outputExists)
    #expect(project.contents() == ["notes.txt": [1]])
    try project.remove("dist")
    try await project.build()
    try project.directory.write([1], to: "dist/.DS_Store")
    try await project.build()
    #expect(project.directory.bytes(of: "dist/.DS_Store") == nil)
    for (place, named) in [
      ("dist/notes.txt", "notes.txt"), ("dist/sub/notes.txt", "sub"), ("dist/ba-package/notes.txt", "ba-package/notes.txt"),
    ] {
      try project.directory.write([1], to: place)
      let error = await project.refusal()
      #expect(error?.code == .outputExists)
      #expect(error?.message.hasSuffix("holds a file that packer did not make, such as \(named)") == true, "\(error?.message ?? "")")
      #expect(project.directory.bytes(of: place) == [1])
      try project.remove(place.split(separator: "/").prefix(2).joined(separator: "/"))
    }
    // Under the name of a file of the release, which is missing.
    let name = try #require(project.contents().keys.first { $0.hasPrefix("movie-") })
    let pack = try #require(project.directory.bytes(of: "dist/\(name)"))
    try project.remove("dist/\(name)")
    try project.directory.write([1], to: "dist/\(name)/notes.txt")
    #expect(await project.refusal()?.code == .outputExists)
    #expect(project.directory.bytes(of: "dist/\(name)/notes.txt") == [1])
    try project.remove("dist/\(name)")
    try project.directory.write(pack, to: "dist/\(name)")
    var record = String(decoding: project.directory.bytes(of: "dist/build.json") ?? [], as: UTF8.self)
    record = record.replacingOccurrences(of: "\"version\": 1\n", with: "\"version\": 2\n")
    try project.directory.write(record.utf8, to: "dist/build.json")
    #expect(await project.refusal()?.code == .outputExists)
    try project.remove("dist")
    try project.directory.write([1], to: "dist")
    #expect(await project.refusal()?.code == .outputExists)
    try project.remove("dist")
    try project.directory.makeDirectory("elsewhere")
    try project.directory.write([1], to: "elsewhere/mine")
    try FileManager.default.createSymbolicLink(atPath: project.directory("dist"), withDestinationPath: "elsewhere")
    #expect(await project.refusal()?.code == .outputExists)
    #expect(project.directory.names(in: "elsewhere") == ["mine"])
  }

  @Test("reports all sources that cannot be packed before anything is made, in the words of the configuration")
  func sources() async throws {
    let project = try ReleaseProject()
    try project.add("core/.env", [1])
    try project.add("games/kart/dev.txt", Array("-----BEGIN PRIVATE KEY-----\n".utf8))
    let error = await project.refusal()
    #expect(error?.code == .unsuitableSource)
    #expect(error?.message == "the sources of 2 packs cannot be packed")
    #expect(error?.details.count == 2)
    #expect(error?.advice?.description == "exclude it with 'exclude' in packer.yml, or allow it with an entry under 'allowSecrets'")
    #expect(project.directory.names() == ["build", "packer.yml"])
  }

  @Test("with a secret in it is not reused if secrets are no longer allowed")
  func secretsLater() async throws {
    let project = try ReleaseProject(ReleaseProject.configuration + "defaults: {allowSecrets: true}\n")
    try project.add("core/dev.txt", Array("-----BEGIN PRIVATE KEY-----\n".utf8))
    try await project.build()
    try project.configure(ReleaseProject.configuration)
    #expect(await project.refusal()?.code == .unsuitableSource)
  }

  @Test("is not made inside the root of a pack", arguments: ["build/core/dist", "build/core/js/dist", "build/games/kart/dist"])
  func insideOfSource(place: String) async throws {
    let project = try ReleaseProject()
    let before = project.contents(of: "build")
    let error = await project.refusal { $0.output = project.directory(place) }
    #expect(error?.code == .usage && error?.message.contains("and would be packed") == true)
    #expect(project.contents(of: "build") == before)
    // A directory beside the root whose name starts with the root's name is not inside it.
    try await project.build { $0.output = project.directory("build/core-dist") }
  }

  @Test(
    "is made inside the root of a pack that excludes it, and is not packed the next time",
    arguments: ["/dist/", "dist", "**/dist"])
  func insideOfSourceAndLeftOut(pattern: String) async throws {
    let project = try ReleaseProject()
    try project.configure(
      ReleaseProject.configuration + "defaults: {exclude: [\"\(pattern)\"]}\n")
    let inside = project.directory("build/core/dist")
    let first = try await project.build { $0.output = inside }
    let second = try await project.build { $0.output = inside }
    #expect(first.release?.manifest == second.release?.manifest)
    #expect(second.items.allSatisfy { $0.action == .reused })
  }

  @Test("does not replace a directory with other files in it", arguments: [".git/HEAD", "__MACOSX/a", "notes.txt", "._folder/a"])
  func foreignFiles(path: String) async throws {
    let project = try ReleaseProject()
    try await project.build()
    try project.add("../dist/\(path)", [1])
    let error = await project.refusal()
    #expect(error?.code == .outputExists)
    #expect(project.directory.bytes(of: "dist/\(path)") == [1])
  }

  @Test("that cannot be synced to the disk is an error, even if there is no earlier release")
  func syncFails() async throws {
    let project = try ReleaseProject()
    let counting = FaultyFiles()
    try await project.build { $0.files = counting }
    try project.remove("dist")
    let last = try #require(counting.calls.last { $0.operation == .sync })
    let error = await project.refusal { $0.files = FaultyFiles.failing(at: last.number) }
    #expect(error?.code == .cannotWrite)
  }

  @Test("needs a signing key, and refuses one that is given twice")
  func signingKeys() async throws {
    let project = try ReleaseProject()
    #expect(await project.refusal(signers: [])?.code == .noKey)
    #expect(await project.refusal(signers: [1, 1])?.code == .usage)
    #expect(project.directory.names() == ["build", "packer.yml"])
  }

  @Test("whose signing program is not there is refused before anything is packed, and needs no program if nothing changed")
  func missingSigner() async throws {
    let project = try ReleaseProject()
    let publicKey = try ReleaseProject.signingKey(0).publicKey
    let phases = Monitor<Set<PackProgress.Phase>>([])
    func build() async throws(PackError) -> ReleaseBuildReport {
      let build = ReleaseBuild(try PackerConfiguration.read(project.directory("packer.yml")), time: ReleaseProject.time(1))
      let signer = ReleaseSigner(SigningProgram(publicKey: publicKey, words: ["no-such-program"]))
      return try await build.run(key: try sampleKey(), signers: [signer]) { step in _ = phases.withLock { $0.insert(step.phase) } }
    }
    let error = await #expect(throws: PackError.self) { _ = try await build() }
    #expect(error?.code == .signingFailed && error?.message == "signing program 'no-such-program' was not found")
    #expect(phases.withLock { !$0.contains(.packing) })
    #expect(project.directory.names() == ["build", "packer.yml"])
    try await project.build()
    #expect(try await build().release?.isManifestUnchanged == true)
  }

  @Test("has the keys documents that were read first, also if their file changes while packs are made", arguments: [false, true])
  func changedKeysFile(isGiven: Bool) async throws {
    let project = try ReleaseProject("keysFile: packer.keys.json\n" + ReleaseProject.configuration)
    let first = try KeysSample.document(KeysSample.content())
    let second = try KeysSample.document(KeysSample.content(2, signers: [0, 9]))
    try project.directory.write(KeysChain.text(of: [first.bytes]), to: "packer.keys.json")
    var build = ReleaseBuild(try PackerConfiguration.read(project.directory("packer.yml")), time: ReleaseProject.time())
    build.files = FaultyFiles()
    let changed = KeysChain.text(of: [first.bytes, second.bytes])
    if isGiven {
      build.keysFile = try KeysFile(reading: project.directory("packer.keys.json"))
      try project.directory.write(changed, to: "packer.keys.json")
    }
    let hasChanged = Monitor(false)
    let signer = ReleaseSigner(try ReleaseProject.signingKey(0))
    _ = try await build.run(key: try sampleKey(), signers: [signer]) { step in
      guard step.phase == .packing else { return }
      hasChanged.withLock { $0 = (try? project.directory.write(changed, to: "packer.keys.json")) != nil }
    }
    #expect(hasChanged.withLock { $0 })
    // The oldest document is that of all apps, so the manifest contains those after it.
    let document = try SignedManifest(project.directory.bytes(of: "dist/manifest.json") ?? [])
    #expect(document.keysBytes.isEmpty)
  }

  @Test("with a manifest too large for clients is refused before anything is packed, with a hint")
  func largeManifest() async throws {
    let project = try ReleaseProject()
    let error = await project.refusal { build in
      let pack = build.configuration.packs[0]
      build.configuration.packs = (0..<2000).map { number in
        var copy = pack
        copy.id = (try? PackName("pack-\(number)")) ?? pack.id
        copy.description = String(repeating: "d", count: 300)
        return copy
      }
    }
    #expect(error?.code == .invalidManifest)
    #expect(error?.message.hasPrefix("the manifest of 2000 packs would be at least ") == true)
    #expect(error?.message.hasSuffix(" bytes, more than the 1048576 that a client reads") == true)
    #expect(error?.advice?.description == "combine small packs, or shorten descriptions, names and tags")
    #expect(project.directory.names() == ["build", "packer.yml"])
  }

  @Test("with a manifest larger than its ceiling gives a warning")
  func ceiling() async throws {
    let text = ReleaseProject.configuration.replacing("delivery: onDemand", with: "delivery: prefetch")
    let project = try ReleaseProject(text + "manifestCeiling: 1 KiB\n")
    let remarks = try await project.build().remarks
    #expect(remarks.count == 1 && remarks[0].isWarning)
    #expect(remarks.first?.message.hasSuffix("bytes, more than the 1024 that the budget reserves for it") == true)
  }

  // MARK: Failures

  @Test("is unchanged if a build fails at any file operation, and nothing else is left behind")
  func everyFailure() async throws {
    let project = try ReleaseProject()
    try await project.build()
    let before = project.contents()
    try project.add("movie/intro.mp4", [1, 2, 3])
    let counting = FaultyFiles()
    try await project.build {
      $0.files = counting
      $0.jobs = 1
    }
    let after = project.contents()
    let exchange = try #require(counting.calls.last { $0.operation == .exchange }).number
    #expect(exchange > 100)
    for number in stride(from: 0, through: exchange, by: 7) {
      try project.remove("dist")
      for (name, bytes) in before { try project.directory.write(bytes, to: "dist/\(name)") }
      let call = counting.calls[number]
      let error = await project.refusal {
        $0.files = FaultyFiles.failing(at: number)
        $0.jobs = 1
      }
      // The search for stale names and the reading of the earlier manifest may fail without harm.
      let contents = project.contents()
      let isAsExpected = contents == (error == nil ? after : before)
      #expect(isAsExpected, "\(call)")
      if call.operation != .remove { #expect(project.directory.names() == ["build", "dist", "packer.yml"], "\(call)") }
    }
  }

  @Test("is the earlier one or the new one if a build stops at any file operation, and the next build cleans up")
  func everyStop() async throws {
    let project = try ReleaseProject()
    try await project.build()
    let before = project.contents()
    try project.add("movie/intro.mp4", [1, 2, 3])
    let counting = FaultyFiles()
    try await project.build {
      $0.files = counting
      $0.jobs = 1
    }
    let after = project.contents()
    for number in stride(from: 0, to: counting.calls.count, by: 17) {
      try project.remove("dist")
      for (name, bytes) in before { try project.directory.write(bytes, to: "dist/\(name)") }
      _ = await project.refusal {
        $0.files = FaultyFiles.stopping(at: number)
        $0.jobs = 1
      }
      let contents = project.contents()
      let isWhole = contents == before || contents == after
      #expect(isWhole, "from call \(number) on")
    }
    try await project.build()
    #expect(project.contents() == after)
    #expect(project.directory.names() == ["build", "dist", "packer.yml"])
  }

  @Test(
    "has its manifest and all that this names if a build stops while files move into a directory that cannot be renamed; the next build goes on"
  )
  func everyStopInside() async throws {
    let project = try ReleaseProject()
    try await project.build()
    let before = project.contents()
    try project.add("movie/intro.mp4", [1, 2, 3])
    let counting = FaultyFiles { $0.operation == .exchange ? .failure(.acrossVolumes) : nil }
    try await project.build {
      $0.files = counting
      $0.jobs = 1
    }
    let after = project.contents()
    let first = try #require(counting.calls.first { $0.operation == .exchange }).number
    var mixtures = 0
    for number in stride(from: first + 1, to: counting.calls.count, by: 7) {
      try project.remove("dist")
      for (name, bytes) in before { try project.directory.write(bytes, to: "dist/\(name)") }
      _ = await project.refusal {
        $0.files = FaultyFiles { call in
          call.number >= number ? .failure(.inputOutput) : call.operation == .exchange ? .failure(.acrossVolumes) : nil
        }
        $0.jobs = 1
      }
      let contents = project.contents()
      if contents != before, contents != after { mixtures += 1 }
      let release = try ReleaseFiles(project.directory("dist"))
      #expect(release.files.allSatisfy { contents[$0.name]?.count == Int($0.size) }, "\(counting.calls[number])")
      // Also from other sources, and after a build that fails.
      try project.add("movie/intro.mp4", [4])
      #expect(await project.refusal { $0.files = FaultyFiles { $0.operation == .exchange ? .failure(.inputOutput) : nil } } != nil)
      try await project.build { $0.files = FaultyFiles { $0.operation == .exchange ? .failure(.acrossVolumes) : nil } }
      #expect(project.directory.names() == ["build", "dist", "packer.yml"], "\(counting.calls[number])")
      try project.add("movie/intro.mp4", [1, 2, 3])
      try await project.build()
      #expect(project.contents() == after && project.directory.names() == ["build", "dist", "packer.yml"], "\(counting.calls[number])")
    }
    #expect(mixtures > 3)
  }

  @Test("is the earlier one or the new one if a build is cancelled, and nothing is left behind")
  func cancelled() async throws {
    let project = try ReleaseProject()
    try await project.build()
    let before = project.contents()
    try project.add("movie/intro.mp4", [1, 2, 3])
    let counting = FaultyFiles()
    try await project.build { $0.files = counting }
    let after = project.contents()
    var random = SeededGenerator()
    for _ in 0..<12 {
      try project.remove("dist")
      for (name, bytes) in before { try project.directory.write(bytes, to: "dist/\(name)") }
      let moment = Int.random(in: 0..<counting.calls.count, using: &random)
      let task = Monitor<Task<PackError?, Never>?>(nil)
      let files = FaultyFiles { call in
        if call.number == moment { task.withLock { $0?.cancel() } }
        return nil
      }
      let started = Task { () -> PackError? in
        while task.withLock({ $0 == nil }) { await Task.yield() }
        return await project.refusal { $0.files = files }
      }
      task.withLock { $0 = started }
      let error = await started.value
      #expect(error == nil || error?.code == .cancelled, "at call \(moment): \(error?.message ?? "")")
      let contents = project.contents()
      let isAsExpected = contents == (error == nil ? after : before)
      #expect(isAsExpected, "at call \(moment)")
      #expect(project.directory.names() == ["build", "dist", "packer.yml"], "at call \(moment)")
    }
  }

  // MARK: Contents

  @Test("has the same budget in manifest, plist fragment, reports and the sum of its packs", arguments: [0, 1, 2])
  func agreement(_ number: Int) async throws {
    let additions = ["", "manifestCeiling: 200 KiB\nheadroom: 1 MB\n", "headroom: 5 %\n"]
    let text = ReleaseProject.configuration.replacingOccurrences(
      of: "headroom: 2 %\n", with: additions[number].contains("headroom") ? "" : "headroom: 2 %\n")
    let project = try ReleaseProject(text + additions[number])
    try await project.build()
    let manifest = try project.manifest()
    let configuration = try PackerConfiguration.read(project.directory("packer.yml"))
    func sum(_ delivery: DeliveryClass, _ size: (ManifestPack) -> UInt64) -> UInt64 {
      manifest.packs.filter { $0.delivery == delivery }.reduce(0) { $0 + size($1) }
    }
    func whole(_ sum: UInt64) -> UInt64 {
      sum + max((sum * configuration.headroom.basisPoints + 9999) / 10_000, configuration.headroom.bytes, 1)
    }
    let essential = sum(.essential, \.size)
    let expected = InstallBudget(
      essentialDownloadAllowance: whole(essential + configuration.manifestCeiling),
      downloadAllowance: whole(sum(.prefetch, \.size) + essential),
      essentialMaxInstallSize: whole(sum(.essential, \.sizeOnDevice)), maxInstallSize: whole(sum(.prefetch, \.sizeOnDevice)))
    #expect(manifest.budget == expected)
    let plist = try InfoPlist.read(project.directory("dist/Info.fragment.plist"))
    #expect(plist.keys.budget == expected && plist.keys.problems.isEmpty)
    let json = try JSONSerialization.jsonObject(with: Data(project.directory.bytes(of: "dist/budget.json") ?? [])) as? [String: Any]
    let budget = json?["budget"] as? [String: UInt64] ?? [:]
    let text2 = String(decoding: project.directory.bytes(of: "dist/budget.txt") ?? [], as: UTF8.self).replacingOccurrences(
      of: " ", with: "")
    let markdown = String(decoding: project.directory.bytes(of: "dist/budget.md") ?? [], as: UTF8.self).replacingOccurrences(
      of: " ", with: "")
    for (key, bytes) in expected.named {
      #expect(budget[key] == bytes)
      #expect(text2.contains("total\(bytes)"))
      #expect(markdown.contains("|\(bytes)|"))
    }
    let packs = json?["packs"] as? [[String: Any]] ?? []
    let entries = try project.packs()
    #expect(packs.map { $0["download"] as? UInt64 } == entries.map(\.size))
    #expect(packs.map { $0["installed"] as? UInt64 } == entries.map(\.sizeOnDevice))
  }

  @Test("counts for each pack the space that a real install takes on the disk")
  func installSizes() async throws {
    let project = try ReleaseProject()
    try await project.build()
    for entry in try project.packs() {
      let file = project.directory("dist/\(entry.url.split(separator: "/").last ?? "")")
      var size: UInt64
      if entry.install == .packed {
        size = try blocks(of: file)
      } else {
        let place = project.directory("installed-\(entry.id)")
        try await Pack.open(file, key: sampleKey()).unpack(to: place)
        size = 4096
        for case let path as String in FileManager.default.enumerator(atPath: place) ?? .init() {
          size += try blocks(of: "\(place)/\(path)")
        }
        #expect(entry.installSize == size, "\(entry.id)")
      }
      #expect(entry.sizeOnDevice == size, "\(entry.id)")
    }
  }

  /// Returns the space that a file takes, in bytes. A directory takes one block. If the file system has the block size of a device, its own count is
  /// used, otherwise the size rounded up.
  private func blocks(of path: String) throws -> UInt64 {
    var status = stat()
    #expect(lstat(path, &status) == 0)
    if status.st_mode & S_IFMT == S_IFDIR { return 4096 }
    let counted = UInt64(status.st_blocks) * 512
    let rounded = (UInt64(status.st_size) + 4095) / 4096 * 4096
    return status.st_blksize == 4096 && counted > 0 ? counted : rounded
  }

  @Test("lists its packs in the format of the tutorials, with on-demand packs under a separate key")
  func packagesList() async throws {
    let project = try ReleaseProject()
    try await project.build()
    struct List: Decodable {
      struct Package: Decodable {
        var id: String
        var essential: Bool
        var name: String
        var description: String
        var path: String
        var size: Int
        var created: Double
      }
      var packages: [Package]
      var onDemand: [Package]
    }
    let list = try JSONDecoder().decode(List.self, from: Data(project.directory.bytes(of: "dist/packages.json") ?? []))
    let packs = try project.packs()
    #expect(list.packages.map(\.id) == ["core", "game-kart", "game-poker", "movie"])
    #expect(list.onDemand.map(\.id) == ["voices-de"])
    #expect((list.packages + list.onDemand).map(\.path) == packs.map(\.url))
    #expect((list.packages + list.onDemand).map { UInt64($0.size) } == packs.map(\.size))
    #expect(list.packages.map(\.essential) == [true, false, false, false])
    #expect(list.packages[0].created == 1_793_491_200 && list.packages[0].name == "Core")
  }

  @Test("has the input for ba-package, with the packs as payload under names that stay the same")
  func baPackages() async throws {
    let project = try ReleaseProject()
    try await project.build { $0.makesBAPackages = true }
    #expect(
      project.directory.names(in: "dist/ba-package") == Self.all.flatMap { ["\($0).json", "\($0).pack"] }.sorted())
    for entry in try project.packs() {
      let payload = project.directory.bytes(of: "dist/ba-package/\(entry.id).pack")
      #expect(payload == project.directory.bytes(of: "dist/\(entry.url.split(separator: "/").last ?? "")"))
    }
    // A build without the setting removes them.
    try await project.build()
    #expect(project.directory.names(in: "dist/ba-package") == [])
  }

  @Test("of a thousand small packs is built, and is built again without packing any")
  func manyPacks() async throws {
    let project = try ReleaseProject(
      "serve: {baseURL: \"https://cdn.example.com/\"}\npacks:\n  - {id: \"p-${name}\", each: \"build/many/*\", delivery: prefetch}\n")
    for number in 0..<1000 { try project.add("many/\(number)/file.txt", Array("content \(number)".utf8)) }
    let first = try await project.build(isFixed: false)
    #expect(first.ids(.packed).count == 1000)
    let size = first.release?.manifestSize ?? 0
    #expect(size > 256 << 10 && size < 1 << 20)
    #expect(first.remarks.map(\.isWarning) == [false, true])
    #expect(first.remarks.first?.message == "the manifest is \(size) bytes for 1000 packs, which is large for a downloader extension")
    let before = project.contents()
    let second = try await project.build(on: 2, isFixed: false)
    #expect(second.ids(.reused).count == 1000)
    let isSame = project.contents() == before
    #expect(isSame)
  }
}
