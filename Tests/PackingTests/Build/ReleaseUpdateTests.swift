import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackProject

/// A project of which releases were recorded, whose packs are kept.
struct UpdatedProject {
  let project: ReleaseProject
  var directory: TemporaryDirectory { project.directory }

  /// - Parameter updates: The value of `updates` in packer.yml; nil for none.
  init(updates: String? = nil) throws {
    project = try ReleaseProject(Self.configuration(updates))
    for (name, seed) in [("level", 1), ("map", 2)] as [(String, UInt64)] {
      var random = SeededGenerator(seed: seed)
      try project.add("core/\(name).bin", random.bytes(40_000))
    }
  }

  static func configuration(_ updates: String?) -> String {
    """
    serve: {baseURL: "https://cdn.example.com/packs/"}
    packs:
      - {id: core, root: build/core, delivery: essential}
      - {id: movie, root: build/movie, delivery: prefetch}

    """ + (updates.map { "updates: \($0)\n" } ?? "")
  }

  /// The name of the record of a manifest, if there is one.
  func record(_ version: UInt64) -> String? {
    directory.names(in: "released").first { $0.hasPrefix("\(version)-") && $0.hasSuffix(".json") }
  }

  func configure(_ updates: String?) throws { try project.configure(Self.configuration(updates)) }

  /// Changes a small file of the pack `core`.
  func change(_ number: Int) throws { try project.add("core/index.html", Array("<title>core \(number)</title>".utf8)) }

  /// Records the release as the command does, with the packs.
  @discardableResult
  func record(_ change: (inout ReleaseRecording) -> Void = { _ in }) throws -> ReleaseRecording.Report {
    var recording = ReleaseRecording(dist: directory("dist"), lockPath: directory("packer.lock.json"))
    recording.configuration = try PackerConfiguration.read(directory("packer.yml"))
    recording.files = FaultyFiles()
    change(&recording)
    return try recording.record()
  }

  /// Builds and records releases with different content.
  func release(_ numbers: ClosedRange<Int>) async throws {
    for number in numbers {
      try change(number)
      try await project.build(on: Int64(number))
      try record()
    }
  }

  /// Builds release 2 after release 1 was recorded.
  @discardableResult
  func update() async throws -> ReleaseBuildReport {
    try await release(1...1)
    try change(2)
    return try await project.build(on: 2)
  }

  func catalogue() throws -> ReleaseCatalogue { try ReleaseCatalogue(try project.manifest(), in: directory("dist")) }

  /// The deltas that the manifest lists to the pack `core`.
  func deltas() throws -> [ManifestDelta] { try catalogue().packs.first { $0.id == "core" }?.deltas ?? [] }

  func path(of delta: ManifestDelta) -> String { "dist/\(ManifestPack.publishedName("core", delta.sha256))" }

  func addApp(_ version: String, firstManifest: UInt64, isRetired: Bool = false) throws {
    var lock = try project.lock()
    lock.apps.append(
      ReleaseLock.App(
        version: version, budget: nil, hosts: nil, manifestURL: nil, trustedKeys: [], keyIDs: [], format: "1.0",
        firstManifest: firstManifest, isRetired: isRetired))
    try lock.write(to: directory("packer.lock.json"))
  }
}

@Suite("Deltas of a release", .bounded)
struct ReleaseUpdateTests {
  @Test("are made from the recorded release, listed in a page, and make the new pack out of the old one")
  func made() async throws {
    let sample = try UpdatedProject()
    let report = try await sample.update()
    let delta = try #require(try sample.deltas().first)
    let entry = try #require(try sample.project.pack("core"))
    let old = try #require(try sample.project.lock().released?.packs.first { $0.id == "core" })
    #expect(delta.bases == [old.contentRoot] && delta.size * 10 < entry.size)
    #expect(UInt64(sample.directory.bytes(of: sample.path(of: delta))?.count ?? 0) == delta.size)

    let base = try Pack.open(sample.directory("released/\(ManifestPack.publishedName("core", old.sha256))"), key: try sampleKey())
    let opened = try DeltaPack.open(sample.directory(sample.path(of: delta)), key: try sampleKey())
    var application = try DeltaApplication(opened, over: [base])
    try application.prove()
    #expect(opened.head.target == entry.contentRoot && opened.source.header.packVersion == 2)
    try opened.source.checkName(PackName("core"))

    let update = try #require(report.updates.first)
    #expect(report.updates.count == 1)
    #expect(update.action == .made && update.version == 1 && update.manifest == 1 && update.size == delta.size)
    #expect(update.permille == delta.size * 1000 / entry.size)
    let record = try BuildRecord.read(in: sample.directory("dist"))
    #expect(record.files == sample.project.contents().keys.filter { $0 != BuildRecord.fileName }.sorted())
    #expect(record.deltas.map(\.file) == [ManifestPack.publishedName("core", delta.sha256)])
    #expect(report.downloads.map(\.size) == [delta.size] && report.downloads.map(\.packSize) == [entry.size])
  }

  @Test("are not made if nothing was recorded, and the release is then the same as with them turned off")
  func nothingRecorded() async throws {
    let (sample, other) = (try UpdatedProject(), try UpdatedProject(updates: "none"))
    for project in [sample.project, other.project] {
      try await project.build()
      try project.add("core/index.html", [1])
      let report = try await project.build(on: 2)
      #expect(report.updates.isEmpty && report.downloads.isEmpty)
    }
    #expect(sample.project.contents() == other.project.contents())
    #expect(try sample.deltas().isEmpty)
  }

  @Test("are not made without the records of earlier releases, and a warning says so")
  func lostRecords() async throws {
    let sample = try UpdatedProject()
    try await sample.release(1...2)
    try sample.project.remove("released")
    try sample.change(3)
    let report = try await sample.project.build(on: 3)
    #expect(report.remarks.contains { $0.isWarning && $0.message.contains("has no record of manifest 2") })
    let recorded = try UpdatedProject()
    #expect(try await !recorded.update().remarks.contains { $0.message.contains("has no record") })
  }

  @Test("are not made, and no packs are kept, with 'updates: none' or if the system downloads the packs", arguments: ["none", "apple"])
  func turnedOff(_ how: String) async throws {
    let sample = try UpdatedProject(updates: how == "none" ? "none" : nil)
    if how == "apple" {
      try sample.project.configure(UpdatedProject.configuration(nil) + "hosting: apple\napp: {group: group.com.example.arcade}\n")
    }
    let report = try await sample.update()
    #expect(report.updates.isEmpty)
    #expect(try sample.deltas().isEmpty)
    #expect(!sample.directory.names().contains("released"))
  }

  @Test("that save too little are left out with the reason, and are not made again")
  func worth() async throws {
    let sample = try UpdatedProject()
    try await sample.release(1...1)
    var random = SeededGenerator(seed: 9)
    try sample.project.add("core/level.bin", random.bytes(40_000))
    let first = try await sample.project.build(on: 2)
    let update = try #require(first.updates.first)
    // One of two equally large files is new.
    #expect(update.action == .made && (400...600).contains(update.permille ?? 0))

    try sample.configure("{worth: 60}")
    let second = try await sample.project.build(on: 2)
    #expect(second.updates.first?.action == .omitted)
    #expect(second.updates.first?.reason?.hasSuffix("%, less than 60 %") == true)
    #expect(try sample.deltas().isEmpty)
    #expect(sample.directory.names(in: "dist").count { $0.hasPrefix("core-") } == 1)
    try sample.project.remove("released")
    let third = try await sample.project.build(on: 2)
    // Without the base, it could not be made: its size is known.
    #expect(third.updates == second.updates)
    try sample.configure("{worth: 60.5}")
    #expect(try await sample.project.build(on: 2).updates.first?.reason?.hasSuffix("less than 60.50 %") == true)
  }

  @Test("of which devices would make too large a pack are left out with the reason, and are not made again as long as packs stay encrypted")
  func tooLarge() async throws {
    let project = try ReleaseProject()
    func configure(_ install: String, level: String = "19") throws {
      try project.configure(
        """
        serve: {baseURL: "https://cdn.example.com/packs/"}
        packs:
          - {id: texts, root: build/texts, install: \(install), level: \(level)}

        """)
    }
    // Text that shrinks much more at level 19 than a device has time for, and a change in each part of it.
    var random = SeededGenerator(seed: 4)
    let words = (0..<3000).map { _ in
      (0..<Int.random(in: 3...9, using: &random)).map { _ in UInt8.random(in: 97...122, using: &random) } + [32]
    }
    func change(_ release: UInt8) throws {
      var random = SeededGenerator(seed: 5)
      for number in 0..<40 {
        let text = (0..<12_000).flatMap { _ in words[Int(3000 * pow(Double.random(in: 0..<1, using: &random), 3))] }
        try project.add("texts/\(number).txt", [48 + release] + text)
      }
    }
    try configure("packed")
    try change(1)
    try await project.build(on: 1)
    try project.record(keepsPacks: true)
    try change(2)
    let first = try await project.build(on: 2).updates
    #expect(first.first?.action == .omitted && first.first?.reason?.hasPrefix("a device would make a pack of ") == true, "\(first)")
    #expect(try BuildRecord.read(in: project.directory("dist")).deltas.map(\.file) == [nil])

    // Without the base, it could not be made.
    let base = try #require(project.directory.names(in: "released").first { $0.hasSuffix(".pack") })
    let kept = try #require(project.directory.bytes(of: "released/\(base)"))
    try project.remove("released/\(base)")
    #expect(try await project.build(on: 2).updates == first)

    try project.directory.write(kept, to: "released/\(base)")
    try configure("packed", level: "3")
    #expect(try await project.build(on: 2).updates.first?.action == .made)
    try configure("packed")
    try project.remove("dist")
    try await project.build(on: 2)
    try configure("unpacked")
    #expect(try await project.build(on: 2).updates.first?.action == .made)
  }

  @Test("to small packs are not made: their entries in the page would cost as much")
  func small() async throws {
    let sample = try UpdatedProject()
    try await sample.release(1...1)
    try sample.project.add("movie/intro.mp4", [1])
    let report = try await sample.project.build(on: 2)
    #expect(report.updates.map(\.id) == ["movie"] && report.updates[0].reason?.contains("save only") == true)
  }

  @Test("are reused if nothing changed, also without their bases, and are made again if their file was changed")
  func reused() async throws {
    let sample = try UpdatedProject()
    try await sample.update()
    let before = sample.project.contents()
    try sample.project.remove("released")
    let report = try await sample.project.build(on: 2)
    #expect(report.updates.map(\.action) == [.reused] && report.release?.isManifestUnchanged == true)
    #expect(sample.project.contents() == before)

    let path = sample.path(of: try #require(try sample.deltas().first))
    var bytes = try #require(sample.directory.bytes(of: path))
    bytes[bytes.count / 2] ^= 1
    try sample.directory.write(bytes, to: path)
    let without = try await sample.project.build(on: 2)
    #expect(without.updates.first?.reason?.contains("is neither in") == true)
    #expect(try sample.deltas().isEmpty)
  }

  @Test("are missed in a warning if the packs of the last release are missing, also in a trial run", arguments: [false, true])
  func missingPacks(isTrial: Bool) async throws {
    let sample = try UpdatedProject()
    try await sample.release(1...1)
    let name = try #require(sample.directory.names(in: "released").first { $0.hasPrefix("core-") })
    try sample.project.remove("released/\(name)")
    try sample.project.remove("dist/\(name)")
    try sample.change(2)
    let report = try await sample.project.build(on: 2) { $0.isTrial = isTrial }
    let warnings = report.remarks.filter { $0.isWarning && $0.message.contains("released lacks \(name): players") }
    #expect(warnings.count == 1 && warnings[0].hint != nil)
    #expect(report.updates.map(\.missingFile) == [name] && report.updates[0].action == .omitted)
  }

  @Test("are made again if the pack changes before its release")
  func changedAgain() async throws {
    let sample = try UpdatedProject()
    try await sample.update()
    let before = try sample.deltas()
    try sample.change(3)
    #expect(try await sample.project.build(on: 3).updates.map(\.action) == [.made])
    #expect(try sample.deltas() != before)
  }

  @Test("stay after the release was recorded, so that manifest and bytes stay too")
  func afterRecording() async throws {
    let sample = try UpdatedProject()
    try await sample.release(1...3)
    let before = sample.project.contents()
    #expect(try sample.deltas().count == 2)
    let report = try await sample.project.build(on: 9)
    #expect(sample.project.contents() == before && report.updates.map(\.action) == [.reused, .reused])
    #expect(report.downloads.map(\.manifest) == [2, 1])
  }

  @Test("are the same in a new directory, with any number of threads")
  func determinism() async throws {
    let sample = try UpdatedProject()
    try await sample.update()
    let before = sample.project.contents()
    for jobs in [1, 3] {
      try sample.project.remove("dist")
      let report = try await sample.project.build(on: 2) { $0.jobs = jobs }
      #expect(report.updates.map(\.action) == [.made])
      #expect(sample.project.contents() == before)
    }
  }

  @Test("are made from the eight newest editions, each content once, and not from older ones")
  func mostDeltas() async throws {
    let sample = try UpdatedProject()
    try await sample.release(1...10)
    // The content of release 4 again, under a higher version.
    try sample.change(4)
    try await sample.project.build(on: 11)
    try sample.record()
    try sample.change(12)
    let trial = try await sample.project.build(on: 12) { $0.isTrial = true }
    let report = try await sample.project.build(on: 12)
    #expect(report.updates.map(\.manifest) == [11, 10, 9, 8, 7, 6, 5, 3, 2, 1])
    #expect(report.updates.map(\.action) == Array(repeating: .made, count: 8) + [.omitted, .omitted])
    #expect(report.updates.suffix(2).map(\.reason) == Array(repeating: "only the 8 newest editions get deltas", count: 2))
    #expect(trial.updates.map(\.action) == Array(repeating: .planned, count: 8) + [.omitted, .omitted])
    #expect(trial.updates.map(\.reason) == report.updates.map(\.reason))
    let deltas = try sample.deltas()
    #expect(deltas.count == 8 && Set(deltas.flatMap(\.bases)).count == 8)
    #expect(report.downloads.map(\.manifest) == [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
    #expect(report.downloads.dropLast(2).allSatisfy { $0.packs.map(\.isDelta) == [true] && $0.size * 4 < $0.packSize })
    #expect(report.downloads.suffix(2).allSatisfy { $0.packs.map(\.isDelta) == [false] && $0.size == $0.packSize })
  }

  @Test("are not made from releases before 'from', or before the first manifest of the oldest app version in use")
  func oldest() async throws {
    let sample = try UpdatedProject()
    try await sample.release(1...4)
    func manifests() async throws -> [UInt64] {
      try sample.change(5)
      return try await sample.project.build(on: 5).updates.compactMap(\.manifest)
    }
    #expect(try await manifests() == [4, 3, 2, 1])
    try sample.addApp("1.0", firstManifest: 3)
    try sample.addApp("0.9", firstManifest: 2, isRetired: true)
    #expect(try await manifests() == [4, 3])
    try sample.configure("{from: 2}")
    #expect(try await manifests() == [4, 3, 2])
    try sample.configure("{from: 5}")
    #expect(try await manifests().isEmpty)
  }

  @Test(
    "are left out with the reason if the old pack is missing, is damaged, is another one, or has another key",
    arguments: ["missing", "damaged", "key", "other"])
  func badBase(_ fault: String) async throws {
    let sample = try UpdatedProject()
    try await sample.release(1...1)
    let old = try #require(try sample.project.pack("core"))
    try sample.project.remove("dist")
    if fault == "missing" { try sample.project.remove("released/\(old.fileName)") }
    if fault == "other" {
      let kept = try #require(sample.directory.names(in: "released").first { $0.hasPrefix("movie-") })
      try sample.directory.write(try #require(sample.directory.bytes(of: "released/\(kept)")), to: "released/\(old.fileName)")
    }
    if fault == "damaged" {
      var bytes = try #require(sample.directory.bytes(of: "released/\(old.fileName)"))
      bytes[bytes.count / 2] ^= 1
      try sample.directory.write(bytes, to: "released/\(old.fileName)")
    }
    try sample.change(2)
    let report = try await sample.project.build(on: 2, key: fault == "key" ? 7 : 0)
    let reason = try #require(report.updates.first { $0.id == "core" }?.reason)
    let words = ["missing": "is neither in", "damaged": "authentic", "key": "was made with key", "other": "has another content"]
    #expect(reason.contains(words[fault] ?? "-"), "\(reason)")
    #expect(try sample.deltas().isEmpty)
    #expect(report.downloads.first?.size == report.downloads.first?.packSize)
  }

  @Test("open with the pack's own key if each pack has one")
  func perPackKeys() async throws {
    let sample = try UpdatedProject()
    try sample.project.configure(UpdatedProject.configuration(nil) + "perPackKeys: true\n")
    try await sample.update()
    let (delta, entry) = (try #require(try sample.deltas().first), try #require(try sample.project.pack("core")))
    let start = try PackStart(sample.directory(sample.path(of: delta)), files: SystemFiles())
    #expect("\(start.stanzas.keyID)" == entry.keyID)
  }

  @Test("are listed by a trial run, which writes nothing")
  func trial() async throws {
    let sample = try UpdatedProject()
    try await sample.release(1...1)
    let before = sample.project.contents()
    try sample.change(2)
    let report = try await sample.project.build(on: 2) { $0.isTrial = true }
    #expect(report.updates.map(\.action) == [.planned] && report.updates.map(\.manifest) == [1])
    #expect(sample.project.contents() == before)
    try sample.project.remove("released")
    try sample.project.remove("dist")
    #expect(try await sample.project.build(on: 2) { $0.isTrial = true }.updates.map(\.action) == [.omitted])
  }

  @Test("change neither the install budget nor the size that is reserved for the manifest")
  func budget() async throws {
    let (sample, other) = (try UpdatedProject(), try UpdatedProject(updates: "none"))
    // Less than what a manifest with a catalogue reserves at least.
    let ceiling = "manifestCeiling: 2 KiB\n"
    try sample.project.configure(UpdatedProject.configuration(nil) + ceiling)
    try other.project.configure(UpdatedProject.configuration("none") + ceiling)
    let report = try await sample.update()
    let without = try await other.update()
    #expect(try !sample.deltas().isEmpty)
    #expect(report.release?.budget == without.release?.budget)
    #expect(report.release?.manifestCeiling == without.release?.manifestCeiling)
    #expect(sample.directory.bytes(of: "dist/Info.fragment.plist") == other.directory.bytes(of: "dist/Info.fragment.plist"))
  }

  @Test("appear with the release or not at all, if a build fails at any file operation")
  func everyFailure() async throws {
    let sample = try UpdatedProject()
    try await sample.release(1...1)
    let before = sample.project.contents()
    let names = sample.directory.names()
    try sample.change(2)
    let counting = FaultyFiles()
    try await sample.project.build(on: 2) {
      $0.files = counting
      $0.jobs = 1
    }
    let after = sample.project.contents()
    let first = try #require(counting.calls.first { "\($0)".contains(".delta") }).number
    let exchange = try #require(counting.calls.last { $0.operation == .exchange }).number
    #expect(exchange - first > 50)
    for number in stride(from: first - 30, through: exchange, by: 5) {
      try sample.project.remove("dist")
      for (name, bytes) in before { try sample.directory.write(bytes, to: "dist/\(name)") }
      let call = counting.calls[number]
      let error = await sample.project.refusal(on: 2) {
        $0.files = FaultyFiles.failing(at: number)
        $0.jobs = 1
      }
      let contents = sample.project.contents()
      if error != nil {
        #expect(contents == before, "\(call)")
      } else if contents != after {
        // A base that cannot be read is no reason not to release.
        #expect(try sample.deltas().isEmpty, "\(call)")
      }
      if call.operation != .remove { #expect(sample.directory.names() == names, "\(call)") }
    }
  }
}

@Suite("The packs of a release that is recorded", .bounded)
struct ReleasedPacksTests {
  @Test("are kept as hard links, with a record of the release and a rule for Git")
  func kept() async throws {
    let sample = try UpdatedProject()
    try await sample.release(1...1)
    let packs = try sample.project.packs()
    #expect(sample.directory.names(in: "released") == ([".gitignore", try #require(sample.record(1))] + packs.map(\.fileName)).sorted())
    #expect(sample.directory.bytes(of: "released/.gitignore") == Array("*.pack\n".utf8))
    for pack in packs {
      let nodes = try ["dist", "released"].map {
        try SystemFiles().status(of: sample.directory("\($0)/\(pack.fileName)"), in: nil, following: .asThemselves).inode
      }
      #expect(nodes[0] == nodes[1])
    }
    let folder = ReleasedPacks(sample.directory("released"))
    let record = try #require(try folder.records().first)
    #expect(try folder.release(record) == sample.project.lock().released && record.version == 1)
  }

  @Test("are copied if the file system has no hard links, and a rule for Git that was changed stays")
  func copied() async throws {
    let sample = try UpdatedProject()
    try await sample.project.build()
    try sample.record { $0.files = FaultyFiles.failing(.link, with: .unsupported) }
    try sample.directory.write([], to: "released/.gitignore")
    try sample.change(2)
    try await sample.project.build()
    try sample.record()
    #expect(sample.directory.bytes(of: "released/.gitignore") == [])
    let pack = try #require(try sample.project.pack("core"))
    #expect(sample.directory.bytes(of: "released/\(pack.fileName)") == sample.directory.bytes(of: "dist/\(pack.fileName)"))
    #expect(sample.record(2) != nil)
  }

  @Test("are complete after the recording is done again, wherever it stopped")
  func everyStop() async throws {
    let sample = try UpdatedProject()
    try await sample.project.build()
    let counting = FaultyFiles()
    try sample.record { $0.files = counting }
    let after = sample.project.contents(of: "released")
    for number in stride(from: 0, to: counting.calls.count, by: 3) {
      try? sample.project.remove("released")
      try? sample.project.remove("packer.lock.json")
      #expect(throws: PackError.self) { try sample.record { $0.files = FaultyFiles.stopping(at: number) } }
      // A record of a release has its packs.
      if sample.directory.names().contains("packer.lock.json") {
        #expect(sample.project.contents(of: "released") == after, "\(counting.calls[number])")
      }
      try sample.record()
      #expect(sample.project.contents(of: "released") == after, "\(counting.calls[number])")
    }
  }

  @Test("leave no empty folder if the disk is full when it is made")
  func fullDiskAtFirst() async throws {
    let sample = try UpdatedProject()
    try await sample.project.build()
    let files = FaultyFiles { $0.operation == .write ? .failure(.fullDisk) : nil }
    #expect(throws: PackError.self) { try sample.record { $0.files = files } }
    try #require(files.calls.contains { $0.operation == .makeDirectory })
    #expect(!sample.directory.names().contains("released"))
  }

  @Test("of a release that lacks a file are not recorded, and the error says what to do")
  func missingDelta() async throws {
    let sample = try UpdatedProject()
    try await sample.update()
    try sample.project.remove(sample.path(of: try #require(try sample.deltas().first)))
    let error = #expect(throws: PackError.self) { try sample.record() }
    #expect(error?.code == .missingInput && error?.advice?.description.contains("packer build") == true)
  }

  @Test("are removed again if the release cannot be recorded, unless they were there before")
  func failed() async throws {
    let sample = try UpdatedProject()
    try await sample.release(1...1)
    let released = sample.project.contents(of: "released")
    let lock = try #require(sample.directory.bytes(of: "packer.lock.json"))
    try sample.change(2)
    try await sample.project.build()
    let counting = FaultyFiles()
    try sample.record { $0.files = counting }
    let changes = counting.calls.filter { [.write, .link, .rename, .sync].contains($0.operation) }.map(\.number)
    var failures = 0
    for number in changes {
      let files = FaultyFiles { $0.number == number ? .failure(.fullDisk) : nil }
      try sample.project.remove("released")
      for (name, bytes) in released { try sample.directory.write(bytes, to: "released/\(name)") }
      try sample.directory.write(lock, to: "packer.lock.json")
      do {
        try sample.record { $0.files = files }
      } catch {
        failures += 1
        let isRecorded = sample.directory.bytes(of: "packer.lock.json") != lock
        let isSame = sample.project.contents(of: "released") == released
        #expect(isRecorded || isSame, "\(files.calls[number])")
        #expect(!isRecorded || sample.record(2) != nil, "\(files.calls[number])")
      }
    }
    #expect(failures > 3)
  }

  @Test("stay if they were lost and came again, although recording the release again failed")
  func restored() async throws {
    let sample = try UpdatedProject()
    try await sample.release(1...1)
    let released = sample.project.contents(of: "released")
    let name = try #require(released.keys.first { $0.hasSuffix(".pack") })
    try sample.project.remove("released/\(name)")
    // Everything after the link fails, and so the lock file.
    let isLinked = Monitor(false)
    let files = FaultyFiles { call in
      if call.operation == .link { isLinked.withLock { $0 = true } }
      return call.operation != .link && call.operation != .remove && call.operation != .status && isLinked.withLock { $0 }
        && call.name.contains("lock") ? .failure(.fullDisk) : nil
    }
    #expect(throws: PackError.self) { try sample.record { $0.files = files } }
    #expect(isLinked.withLock { $0 })
    #expect(sample.project.contents(of: "released") == released)
  }

  @Test("are not kept inside the root of a pack, which would pack them, and no build packs them either")
  func insideRoot() async throws {
    let sample = try UpdatedProject(updates: "{packs: build/core/old}")
    try await sample.project.build()
    let report = try sample.record()
    #expect(report.unkept?.message.contains("is inside") == true && report.unkept?.advice?.description.contains("/old/") == true)
    #expect(!sample.directory.names(in: "build/core").contains("old"))
    try sample.directory.makeDirectory("build/core/old")
    #expect(await sample.project.refusal()?.code == .usage)
  }

  @Test("of two releases with one version, from two branches, both count, and recording one again changes nothing")
  func branches() async throws {
    let ours = try UpdatedProject()
    try await ours.release(1...2)
    let theirs = try UpdatedProject()
    try await theirs.release(1...1)
    try theirs.change(7)
    try await theirs.project.build(on: 2)
    try theirs.record()
    let other = try #require(theirs.record(2))
    #expect(other != ours.record(2))
    // What a merge does without a conflict.
    for name in theirs.directory.names(in: "released") where ours.directory.bytes(of: "released/\(name)") == nil {
      try ours.directory.write(theirs.directory.bytes(of: "released/\(name)") ?? [], to: "released/\(name)")
    }
    try ours.change(3)
    #expect(try await ours.project.build(on: 3).updates.map(\.manifest) == [2, 2, 1])
    let names = ours.directory.names(in: "released")
    try ours.record()
    try ours.record()
    #expect(ours.directory.names(in: "released").count { $0.hasSuffix(".json") } == names.count { $0.hasSuffix(".json") } + 1)
  }

  @Test("after a merge are those of players of either side, and not of the mixture in the lock file, unless nothing else is known")
  func mixture() async throws {
    let ours = try UpdatedProject()
    try await ours.release(1...2)
    let theirs = try UpdatedProject()
    try await theirs.release(1...1)
    try theirs.project.add("movie/intro.mp4", [7])
    try await theirs.project.build(on: 2)
    try theirs.record()
    for name in theirs.directory.names(in: "released") where ours.directory.bytes(of: "released/\(name)") == nil {
      try ours.directory.write(theirs.directory.bytes(of: "released/\(name)") ?? [], to: "released/\(name)")
    }
    var lock = try ours.project.lock()
    let movie = try #require(try theirs.project.lock().released?.packs.first { $0.id == "movie" })
    let packs = lock.packs(replacing: [movie])
    lock.released?.packs = packs
    lock.released?.contentDigest = ReleaseLock.noContent
    try lock.write(to: ours.directory("packer.lock.json"))
    try ours.change(3)
    #expect(try await ours.project.build(on: 3).downloads.map(\.manifest) == [2, 2, 1])
    for name in ours.directory.names(in: "released") where name.hasPrefix("2-") { try ours.project.remove("released/\(name)") }
    #expect(try await ours.project.build(on: 3).downloads.map(\.manifest) == [2, 1])
  }

  @Test("do not come if the lock file has a version that no recorded release can have led to")
  func jump() async throws {
    let sample = try UpdatedProject()
    try await sample.release(1...1)
    try sample.project.remove("dist")
    let lock = String(decoding: try #require(sample.directory.bytes(of: "packer.lock.json")), as: UTF8.self)
    let changed = lock.replacing("\"manifestVersion\": 1", with: "\"manifestVersion\": 9007199254740990")
    try sample.directory.write(Array(changed.utf8), to: "packer.lock.json")
    let error = await sample.project.refusal(on: 2)
    #expect(error?.code == .invalidRecord && error?.message.contains("released has 1: no release goes that far") == true)
  }

  @Test("are refused with the record's name if that is another release, or cannot be read")
  func damagedRecord() async throws {
    let sample = try UpdatedProject()
    try await sample.release(1...2)
    try sample.change(3)
    let (first, second) = (try #require(sample.record(1)), try #require(sample.record(2)))
    let record = try #require(sample.directory.bytes(of: "released/\(second)"))
    try sample.directory.write(record, to: "released/\(first)")
    let error = await sample.project.refusal(on: 3)
    #expect(error?.code == .invalidRecord && error?.message.contains("released/\(first) does not describe manifest 1") == true)
    let conflict = "<<<<<<< HEAD\n".utf8 + record + "=======\n".utf8 + record + ">>>>>>> feature\n".utf8
    try sample.directory.write(Array(conflict), to: "released/\(first)")
    let unmerged = await sample.project.refusal(on: 3)
    #expect(unmerged?.code == .unmergedRecord && unmerged?.advice?.description.hasPrefix("remove ") == true)
    // Names that packer does not write are not read.
    for name in ["0\(first)", "1.json", "notes.json", "-1\(first)", "1-\(second)"] {
      try sample.directory.write(record, to: "released/\(name)")
    }
    try sample.project.remove("released/\(first)")
    #expect(try await sample.project.build(on: 3).updates.map(\.manifest) == [2])
  }

  @Test("are recorded only if the deltas are those that were built")
  func changedDelta() async throws {
    let sample = try UpdatedProject()
    try await sample.update()
    let path = sample.path(of: try #require(try sample.deltas().first))
    var bytes = try #require(sample.directory.bytes(of: path))
    bytes[bytes.count - 1] ^= 1
    try sample.directory.write(bytes, to: path)
    #expect(throws: PackError.self) { try sample.record() }
    #expect(try sample.project.lock().released?.manifestVersion == 1)
  }
}
