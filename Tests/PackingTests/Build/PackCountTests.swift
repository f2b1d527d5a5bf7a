import TestSupport
import Testing

@testable import PackGate
@testable import PackPublish

#if os(Linux) && DEBUG
  import CMalloc
  import Foundation

  /// A release of many small packs, half of them on demand, and what a team does with it.
  ///
  /// Each pack has something that the gate reports, content that others have, and a pattern that excludes nothing: what is found about one pack must not be
  /// looked up in a list of all.
  private struct ManyPacks {
    let project: ReleaseProject
    let count: Int
    private let shared = [UInt8](repeating: 7, count: 5000)
    /// The references to objects that each step takes, by the place in the code.
    private(set) var work: [(step: String, places: [Int])] = []

    init(_ count: Int) throws {
      self.count = count
      project = try ReleaseProject()
      try configure()
      try change(1)
    }

    private func configure(prefix: String = "game") throws {
      try project.configure(
        """
        serve: {baseURL: "https://cdn.example.com/packs/"}
        packs:
          - {id: "\(prefix)-a-${name}", each: "build/first/*", delivery: prefetch, tags: ["${name}"], exclude: ["*.none", "/${name}/"]}
          - {id: "\(prefix)-b-${name}", each: "build/later/*", delivery: onDemand, tags: ["${name}"], exclude: ["*.none", "/${name}/"]}
        """)
    }

    /// Changes all packs.
    private func change(_ seed: UInt64) throws {
      var (first, random) = (SeededGenerator(seed: 1), SeededGenerator(seed: seed))
      for number in 0..<count {
        let place = "\(number.isMultiple(of: 2) ? "first" : "later")/level-\(1000 + number)"
        try project.add("\(place)/a.bin", first.bytes(9000))
        try project.add("\(place)/b.bin", random.bytes(100))
        try project.add("\(place)/nothing.png", [])
        try project.add("\(place)/shared.js", shared)
      }
    }

    private mutating func measure(_ step: String, _ body: () async throws -> Void) async throws {
      packer_start_counting_references()
      try await body()
      packer_end_counting_references()
      work.append((step, (0..<Int32(packer_places)).map { packer_references($0) }))
    }

    private func verify(_ day: Int64, isQuick: Bool = false) async throws -> ReleaseReport {
      var verification = ReleaseVerification(project.directory("dist"), now: ReleaseProject.time(day).now)
      (verification.configuration, verification.isQuick, verification.jobs) = (try configuration(), isQuick, 1)
      if project.directory.bytes(of: "packer.lock.json") != nil { verification.lock = project.directory("packer.lock.json") }
      verification.trusted = TrustedKeys([try ReleaseProject.signingKey(0).publicKey])
      return try await verification.run(key: Shared(try sampleKey()))
    }

    private func configuration() throws -> PackerConfiguration { try PackerConfiguration.read(project.directory("packer.yml")) }

    private func build(_ day: Int64, _ change: (inout ReleaseBuild) -> Void = { _ in }) async throws -> ReleaseBuildReport {
      try await project.build(on: day) { build in
        (build.jobs, build.files) = (1, SystemFiles())
        change(&build)
      }
    }

    private func publish() throws {
      let release = try ReleaseFiles(project.directory("dist"))
      let publication = Publication(release, at: FolderPlace(project.directory("www")), own: try project.own())
      let plan = try publication.plan()
      let uploaded = try publication.upload(plan)
      #expect(uploaded > count)
      try publication.publish(plan)
    }

    private func install() async throws {
      let store = try await AssetStore(
        root: project.directory("store"), keys: KeyRing(try sampleKey()), trusting: [try ReleaseProject.signingKey(0).publicKey],
        policy: StorePolicy(freeSpaceMargin: 0))
      let outcome = try await ReleaseInstallation(release: project.directory("dist")).run(in: store, taking: .copying, mode: nil) {
        (_, install) async throws(PackError) in try await install(nil)
      }
      #expect(outcome.installed.count == count)
      let plan = try await store.plan()
      #expect(plan.downloads.isEmpty)
      let repairs = try await store.reconcile()
      #expect(repairs.isEmpty)
    }

    mutating func run() async throws {
      try await measure("build") { [self] in _ = try await build(1) }
      try await measure("build, nothing changed") { [self] in
        let report = try await build(1)
        #expect(report.ids(.reused).count == count)
        #expect(report.remarks.contains { $0.message.contains("nothing to pack matches") })
      }
      try await measure("verify --quick") { [self] in _ = try await verify(1, isQuick: true) }
      try await measure("verify") { [self] in
        let findings = try await verify(1).findings
        #expect(findings.count { $0.rule.id == "PK6008" && $0.hint?.contains("packer build game-") == true } == count)
      }
      try await measure("publish") { [self] in try publish() }
      try await measure("record") { [self] in _ = try project.record(keepsPacks: true) }
      try await measure("install") { [self] in try await install() }
      try change(2)
      try await measure("build, all changed") { [self] in
        let report = try await build(2)
        #expect(report.updates.count { $0.action == .made } == count)
      }
      try await measure("build, deltas reused") { [self] in
        let report = try await build(2)
        #expect(report.updates.count { $0.action == .reused } == count)
      }
      try await measure("verify deltas") { [self] in
        let findings = try await verify(2).findings
        #expect(findings.count { $0.rule.id == "PK6008" } == count)
      }
      try await measure("publish again") { [self] in try publish() }
      try await measure("record again") { [self] in _ = try project.record(keepsPacks: true) }
      try await measure("update") { [self] in try await install() }
      try configure(prefix: "other")
      try await measure("build under other names") { [self] in
        let report = try await build(3) { $0.isTrial = true }
        #expect(report.remarks.contains { $0.message.contains("is what") })
      }
    }
  }

  @Suite("The work for many packs", .bounded)
  struct PackCountTests {
    @Test(
      "building, checking, publishing and installing is work in proportion to the number of packs",
      .enabled(if: ProcessMemory.isMeasurable, "a sanitizer has functions of its own"))
    func growth() async throws {
      // In a separate process, so that nothing else counts.
      let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
        var releases: [ManyPacks] = []
        // The first release is for what a process does only once.
        for count in [2, 20, 40, 80] {
          var release = try ManyPacks(count)
          try await release.run()
          releases.append(release)
        }
        for (number, step) in releases[0].work.map(\.step).enumerated() {
          let places = releases.dropFirst().map { $0.work[number].places }
          let sums = places.map { $0.reduce(0, +) }
          let exponent = log2(Double(sums[2] - sums[1]) / Double(sums[1] - sums[0]))
          print("work: \(step): \(sums), exponent \(exponent)")
          // Where most is too much: addr2line -f -e packerPackageTests.xctest ADDRESS
          let excess = places[0].indices.map { place in places[2][place] + 2 * places[0][place] - 3 * places[1][place] }
          let worst = excess.indices.sorted { excess[$0] > excess[$1] }.prefix(5).map { place in
            "\(places.map { $0[place] }) at 0x\(String(packer_address(Int32(place)), radix: 16))"
          }
          #expect(exponent <= 1.1, "\(step): \(sums), \(worst)")
          // At a place of its own, a square shows before it is much of the whole. Sorting takes 2.5 times as much for twice as many packs.
          let squares = places[0].indices.filter { place in
            let counts = places.map { $0[place] }
            return counts[0] >= 20 && counts[2] >= 1600 && counts[1] >= 3 * counts[0] && counts[2] >= 3 * counts[1]
          }
          #expect(squares.isEmpty, "\(step): \(worst)")
        }
      }
      print(
        String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix("work: ") }
          .joined(separator: "\n"))
    }
  }
#endif
