import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackProject
@testable import PackReading

/// An operation that writes, run on a disk in memory whose power can be cut, and the result it must leave.
private enum WritePath: String, CaseIterable, CustomTestStringConvertible {
  case pack, unpack, build, key

  var testDescription: String { rawValue }

  /// Returns the disk before the operation.
  func base(_ kind: MemoryDisk.Kind) async throws -> MemoryDisk {
    var random = SeededGenerator(seed: 21)
    let disk = MemoryDisk(kind)
    disk.write(Array("text".utf8), to: "/project/build/core/a.txt")
    disk.write(Array("text".utf8), to: "/project/build/core/copy.txt")
    disk.write(random.bytes(90_000), to: "/project/build/core/sub/large.bin")
    switch self {
    case .pack: disk.write(Array("the earlier pack".utf8), to: "/project/core.pack")
    case .unpack: try await Self.pack.run(MemoryFiles(disk))
    case .key: break
    case .build:
      let configuration = """
        app: {bundleID: com.example.arcade, group: group.com.example.arcade}
        serve: {baseURL: "https://cdn.example.com/packs/"}
        packs:
          - {id: core, root: build/core, delivery: essential}

        """
      disk.write(Array(configuration.utf8), to: "/project/packer.yml")
      try await run(MemoryFiles(disk))
      disk.write(random.bytes(5000), to: "/project/build/core/new.bin")
    }
    // Everything written so far is synced to the disk.
    return disk.after(.powerCut)
  }

  func run(_ files: any FileSystem) async throws {
    switch self {
    case .pack:
      var job = PackJob(source: "/project/build/core", output: "/project/core.pack", name: try PackName("core"))
      job.settings.segmentSize = 4096
      job.settings.frameSize = 65_536
      job.jobs = 1
      job.files = files
      _ = try await job.run(key: try sampleKey())
    case .key:
      let key = try sampleKey()
      try KeyFile.write(key, to: "/project/new.key", files: files)
    case .unpack:
      try await Pack.open("/project/core.pack", keys: KeyRing(try sampleKey()), files: files, backend: CryptoBackends.standard)
        .unpack(to: "/project/out", jobs: 1)
    case .build:
      var build = ReleaseBuild(
        try PackerConfiguration.read("/project/packer.yml", files: files), time: ReleaseProject.time())
      build.jobs = 1
      build.files = files
      _ = try await build.run(key: try sampleKey(), signers: [ReleaseSigner(try ReleaseProject.signingKey(0))])
    }
  }

  /// The number of operations that a test must exceed. Otherwise it covered too few.
  var fewestOperations: Int { self == .key ? 7 : 20 }

  /// Returns the part of a disk that is compared: the contents under the output's name.
  func outcome(_ disk: MemoryDisk) -> [String: [UInt8]?] {
    let output =
      switch self {
      case .pack: "/project/core.pack"
      case .unpack: "/project/out"
      case .build: "/project/dist"
      case .key: "/project/new.key"
      }
    if self == .pack || self == .key { return [output: disk.bytes(of: output)] }
    return disk.tree(below: output)
  }
}

/// Packing, unpacking and building on a disk that fails in every way at every operation. The store and downloads have their own tests of this kind.
@Suite("Every write leaves the old or the new output", .bounded)
struct PowerCutTests {
  @Test("if the process stops or the power is cut at any operation", arguments: WritePath.allCases)
  private func everyStop(_ path: WritePath) async throws {
    var random = SeededGenerator(for: "power cuts of \(path.rawValue)")
    var (stops, runs) = (0, 0)
    for kind in [MemoryDisk.Kind.linux, .apple] {
      let base = try await path.base(kind)
      let old = path.outcome(base)
      let whole = base.after(.kill)
      try await path.run(MemoryFiles(whole))
      let new = path.outcome(whole)
      #expect(old != new)
      for crash in [MemoryDisk.Crash.powerCut, .zeroedContent, .emptiedContent, .luck(seed: random.next())] {
        #expect(path.outcome(whole.after(crash)) == new, "a completed output is lost after \(crash)")
      }
      let stride = Effort.number(quick: 3, full: 1)
      var number = Int.random(in: 0..<stride, using: &random)
      while true {
        let disk = base.after(.kill)
        let files = MemoryFiles(disk, .stopBeforeChange(number))
        try? await path.run(files)
        files.end()
        guard let struck = files.struck else {
          stops += files.changeCount
          break
        }
        var crashes: [MemoryDisk.Crash] = [.kill, .powerCut, .zeroedContent, .emptiedContent]
        for _ in 0..<Effort.number(quick: 1, full: 8) { crashes.append(.luck(seed: random.next())) }
        for crash in crashes {
          runs += 1
          let left = path.outcome(disk.after(crash))
          guard left == old || left == new else {
            Issue.record("stopped before \(struck), \(crash): neither the old nor the new is there: \(left.keys.sorted())")
            return
          }
        }
        number += stride
      }
    }
    #expect(stops > path.fewestOperations)
    print("crash points: \(path.rawValue): \(stops) stops, \(runs) crashes looked at")
  }

  /// The error codes that a failing operation may give. Data that cannot be read must not be reported as damaged.
  private static let expected: Set<PackError.Code> = [
    .cannotRead, .cannotWrite, .noSpace, .missingInput, .unsuitableSource, .sourceChanged,
    // A configuration with a directory that cannot be read is invalid.
    .invalidConfiguration,
  ]

  @Test("if any operation fails, with the right error, and an interrupted operation is resumed", arguments: WritePath.allCases)
  private func everyFailure(_ path: WritePath) async throws {
    var random = SeededGenerator(for: "failures of \(path.rawValue)")
    let base = try await path.base(.linux)
    let old = path.outcome(base)
    let whole = base.after(.kill)
    try await path.run(MemoryFiles(whole))
    let new = path.outcome(whole)
    var count = 0
    for failure in FileFailure.samples {
      let stride = Effort.number(quick: 4, full: 1)
      var number = Int.random(in: 0..<stride, using: &random)
      while true {
        let disk = base.after(.kill)
        let files = MemoryFiles(disk, .fail(number, failure))
        var error: (any Error)?
        do { try await path.run(files) } catch let caught { error = caught }
        guard let struck = files.struck else { break }
        count += 1
        if let error {
          let code = (error as? PackError)?.code
          #expect(code.map(Self.expected.contains) == true, "\(failure.text) at \(struck) ends in \(error)")
          let isCarriedOn = failure.isInterruption && ["read", "write"].contains(struck.operation)
          #expect(!isCarriedOn, "\(struck) was interrupted, and not resumed: \(error)")
        }
        let left = path.outcome(disk)
        guard left == old || left == new else {
          Issue.record("\(failure.text) at \(struck): neither the old nor the new is there")
          return
        }
        // Without an error, the new output must be there. With an error it may be there, too, if the failure came after it was put in place.
        if error == nil { #expect(left == new, "\(failure.text) at \(struck)") }
        number += stride
      }
    }
    #expect(count > path.fewestOperations)
    print("failure points: \(path.rawValue): \(count) failures looked at")
  }

  @Test("except on a disk that ignores syncs; a damaged pack is detected when it is read", arguments: WritePath.allCases)
  private func lyingDisk(_ path: WritePath) async throws {
    let base = try await path.base(.linux).remounted(.init(isHonest: false))
    let disk = base.after(.kill)
    try await path.run(MemoryFiles(disk))
    let left = disk.after(.zeroedContent)
    #expect(path.outcome(left) != path.outcome(disk))
    guard path == .pack else { return }
    // The segments are zeros now.
    await #expect(throws: PackError.self) {
      try await Pack.open("/project/core.pack", keys: KeyRing(try sampleKey()), files: MemoryFiles(left), backend: CryptoBackends.standard)
        .verify(jobs: 1)
    }
  }
}
