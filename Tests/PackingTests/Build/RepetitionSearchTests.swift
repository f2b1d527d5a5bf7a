import TestSupport
import Testing

@testable import PackBuild

@Suite("Frames are joined where content repeats at a distance", .bounded)
struct RepetitionSearchTests {
  private static let frame: UInt64 = 2 << 20

  /// Returns the groups of frames for findings with `samples` in each frame, and repetitions as (frame, distance, count).
  private func groups(
    _ sizes: [UInt64], samples: Int = 100, _ repetitions: [(frame: Int, distance: Int, count: Int)]
  ) -> [Range<Int>] {
    var findings = RepetitionSearch.Findings(frames: sizes.count)
    findings.samples = sizes.map { _ in samples }
    for (frame, distance, count) in repetitions { findings.repetitions[frame][distance] = count }
    return RepetitionSearch.groups(of: sizes, findings)
  }

  private func usual(_ count: Int) -> [UInt64] { [UInt64](repeating: Self.frame, count: count) }

  @Test("frames that repeat nothing stay as they are")
  func none() {
    #expect(groups([1024], []) == [])
    #expect(groups(usual(9), []) == [])
  }

  @Test("a few repetitions are chance")
  func few() {
    #expect(groups(usual(2), [(1, 1, 3)]) == [])
    #expect(groups(usual(2), [(1, 1, 4)]) == [0..<2])
    #expect(groups(usual(2), samples: 2000, [(1, 1, 4)]) == [])
    #expect(groups(usual(2), samples: 1999, [(1, 1, 4)]) == [0..<2])
  }

  @Test("frames are joined up to 8 MiB and not beyond")
  func limit() {
    #expect(groups(usual(4), [(3, 3, 50)]) == [0..<4])
    #expect(groups(usual(5), [(4, 4, 50)]) == [])
    #expect(groups([Self.frame, Self.frame, Self.frame, Self.frame + 512], [(3, 3, 50)]) == [])
    #expect(groups(usual(8), (1..<8).map { ($0, 1, 50) }) == [0..<4, 4..<8])
  }

  @Test("only the frames that gain are joined, with those between them")
  func onlyGains() {
    #expect(groups(usual(6), [(3, 2, 50)]) == [1..<4])
    #expect(groups(usual(4), [(3, 1, 50)]) == [2..<4])
    #expect(groups(usual(7), [(1, 1, 50), (6, 1, 50)]) == [0..<2, 5..<7])
  }

  @Test("where groups exclude each other, the one that repeats more is made")
  func best() {
    #expect(groups(usual(5), [(3, 3, 10), (4, 3, 50)]) == [1..<5])
    #expect(groups(usual(5), [(3, 3, 50), (4, 3, 10)]) == [0..<4])
  }

  @Test("no more frames are joined than the search remembers")
  func reach() {
    let small = [UInt64](repeating: 512, count: 40)
    #expect(groups(small, (1..<40).map { ($0, 1, 50) }).allSatisfy { $0.count <= RepetitionSearch.reach })
  }

  // MARK: In packs

  /// A project with two versions of a file of `size` bytes, which differ in their first bytes and in length, and with noise between them.
  private func project(size: Int = 2_500_000, noise: Int = 800_000) throws -> (SampleProject, content: Int) {
    var random = SeededGenerator(seed: 77)
    let project = try SampleProject()
    let content = random.bytes(size)
    try project.add("a.wasm", content)
    try project.add("b.wasm", random.bytes(noise))
    try project.add("c.wasm", random.bytes(12_345) + content)
    return (project, 2 * size + noise + 12_345)
  }

  @Test(
    "a file that contains most of an earlier one is stored once, at every level",
    arguments: [PackLevel.balanced, .fast, .number(3), .number(9)])
  func joined(_ level: PackLevel) async throws {
    let (project, content) = try project()
    let change: (inout PackJob) -> Void = {
      $0.settings.level = level
      $0.settings.frameSize = nil
    }
    let report = try await project.pack(change)
    #expect(report.joinedFrames == 1)
    #expect(report.largestFrame > UInt32(Limits.defaultFrameSize) && report.largestFrame <= UInt32(Limits.frameSize))
    #expect(report.packSize < UInt64(content) - 2_000_000)
    #expect(try await project.unpacked() == SampleTree(reading: project.directory(project.source)))
    _ = try await project.verify(against: project.source)
  }

  @Test("small files that contain most of earlier ones are found")
  func smallFiles() async throws {
    var random = SeededGenerator(seed: 79)
    let project = try SampleProject()
    for number in 0..<40 {
      let content = random.bytes(17_000)
      try project.add("a\(number).bin", content)
      try project.add("z\(number).bin", [UInt8(number)] + content)
    }
    try project.add("m.bin", random.bytes(1_600_000))
    let report = try await project.pack { $0.settings.frameSize = nil }
    #expect(report.joinedFrames == 1)
    #expect(report.packSize < 2_400_000)
  }

  @Test("the number of threads changes nothing")
  func threads() async throws {
    let (project, _) = try project()
    var packs: Set<[UInt8]> = []
    for jobs in [1, 2, 8] {
      try await project.pack {
        $0.settings.frameSize = nil
        $0.jobs = jobs
      }
      packs.insert(project.packed)
    }
    #expect(packs.count == 1)
  }

  @Test("frames of a requested size are not joined")
  func requested() async throws {
    let (project, content) = try project()
    let report = try await project.pack { $0.settings.frameSize = Limits.defaultFrameSize }
    #expect(report.joinedFrames == 0 && report.largestFrame <= UInt32(Limits.defaultFrameSize))
    #expect(report.packSize > UInt64(content))
  }

  @Test("a tree that repeats nothing gives the pack of the default frame size, byte for byte")
  func unchanged() async throws {
    var random = SeededGenerator(seed: 78)
    let project = try SampleProject()
    for number in 0..<5 { try project.add("\(number).bin", random.bytes(1_200_000)) }
    // The same header in all files, and runs of zeros.
    for number in 5..<9 {
      try project.add("\(number).bin", [UInt8](repeating: 7, count: 9000) + random.bytes(600_000) + [UInt8](repeating: 0, count: 300_000))
    }
    let report = try await project.pack { $0.settings.frameSize = nil }
    #expect(report.joinedFrames == 0)
    let packed = project.packed
    try await project.pack { $0.settings.frameSize = Limits.defaultFrameSize }
    let isSame = project.packed == packed
    #expect(isSame)
  }

  @Test("at the smallest level all frames are large already")
  func smallest() async throws {
    let (project, content) = try project(size: 300_000, noise: 100_000)
    let report = try await project.pack {
      $0.settings.level = .smallest
      $0.settings.frameSize = nil
    }
    #expect(report.joinedFrames == 0 && report.packSize < UInt64(content) - 250_000)
  }

  @Test("a file that becomes shorter before it is sampled is refused")
  func shorter() async throws {
    let (project, _) = try project()
    let trigger = Trigger()
    let path = project.directory("\(project.source)/c.wasm")
    let error = await project.refusal {
      $0.settings.frameSize = nil
      $0.files = FaultyFiles { call in
        if call.operation == .read { trigger.fire { overwrite(path, [1, 2, 3]) } }
        return nil
      }
    }
    #expect(error?.code == .sourceChanged)
  }
}
