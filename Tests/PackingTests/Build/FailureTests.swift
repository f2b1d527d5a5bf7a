import Foundation
import TestSupport
import Testing

@testable import PackBase
@testable import PackBuild

/// Packing that cannot be finished must leave the earlier output and nothing else.
@Suite("Packing that fails", .bounded)
struct FailureTests {
  private func project(large: Bool = false) throws -> SampleProject {
    let project = try SampleProject()
    var random = SeededGenerator(seed: 11)
    try project.add("a.txt", Array("text".utf8))
    try project.add("copy.txt", Array("text".utf8))
    try project.add("sub/large.bin", random.bytes(150_000))
    if large {
      for number in 0..<9 { try project.add("\(number).bin", random.bytes(2_100_000)) }
    }
    try project.directory.makeDirectory("tree/empty")
    try project.directory.write(Array("the earlier pack".utf8), to: project.output)
    return project
  }

  @Test("if any one file operation fails, the earlier output is unchanged", arguments: [FileFailure.inputOutput, .fullDisk])
  func everyOperation(_ failure: FileFailure) async throws {
    let project = try project()
    let counting = FaultyFiles()
    try await project.pack {
      $0.files = counting
      $0.jobs = 1
    }
    let finished = project.packed
    let calls = counting.calls
    #expect(calls.count > 40)
    // From the rename on, the new pack is in place.
    let renamed = try #require(calls.last { $0.operation == .rename }).number
    for call in calls where call.number <= renamed {
      try project.directory.write(Array("the earlier pack".utf8), to: project.output)
      do throws(PackError) {
        try await project.pack {
          $0.files = FaultyFiles.failing(at: call.number, with: failure)
          $0.jobs = 1
        }
        // Looking for stale names may fail without harm.
        let isWhole = project.packed == finished
        #expect(isWhole, "\(call)")
      } catch {
        let known: Set<PackError.Code> = [.cannotRead, .cannotWrite, .noSpace, .unsuitableSource, .sourceChanged]
        #expect(known.contains(error.code), "\(call): \(error)")
        let isUntouched = project.packed == Array("the earlier pack".utf8)
        #expect(isUntouched, "\(call)")
      }
      // If a removal failed, the next run removes the temporary file.
      if call.operation != .remove {
        #expect(project.directory.names() == ["out.pack", "tree"], "\(call)")
      }
    }
  }

  @Test(
    "if every operation fails from some point on, the earlier output or the new one is left, and the next run cleans up",
    arguments: [1, 3])
  func crashes(_ jobs: Int) async throws {
    let project = try project()
    let counting = FaultyFiles()
    try await project.pack {
      $0.files = counting
      $0.jobs = jobs
    }
    let finished = project.packed
    for number in stride(from: 0, to: counting.calls.count, by: 3) {
      try project.directory.write(Array("the earlier pack".utf8), to: project.output)
      do throws(PackError) {
        try await project.pack {
          $0.files = FaultyFiles.stopping(at: number)
          $0.jobs = jobs
        }
      } catch {
        let isUntouched = project.packed == Array("the earlier pack".utf8)
        let isWhole = project.packed == finished
        #expect(isUntouched || isWhole, "from call \(number) on: \(error)")
      }
    }
    try await project.pack()
    #expect(project.directory.names() == ["out.pack", "tree"])
  }

  @Test("if the disk is full at the end, the error says how many bytes are missing")
  func fullDisk() async throws {
    let project = try project()
    let recorder = FaultyFiles()
    try await project.pack {
      $0.files = recorder
      $0.jobs = 1
    }
    // The whole pack is one piece, encrypted and written again in place. Even that may fail for lack of space on some volumes.
    let last = try #require(recorder.calls.last { $0.operation == .write }).number
    let error = await project.refusal {
      $0.jobs = 1
      $0.files = FaultyFiles { call in
        switch call.operation {
        case .write where call.number == last: .failure(.fullDisk)
        case .freeSpace: .freeSpace(1000)
        default: nil
        }
      }
    }
    #expect(error?.code == .noSpace)
    let missing = error?.message.split(separator: " ").compactMap { Int($0) }.first
    #expect(missing.map { $0 > 145_000 && $0 < 160_000 } == true, "\(error?.message ?? "")")
  }

  @Test("if the disk is full while writing, the error says how many bytes are missing")
  func fullDiskWhileWriting() async throws {
    let project = try project()
    let error = await project.refusal {
      $0.files = FaultyFiles { call in
        switch call.operation {
        case .write: .failure(.fullDisk)
        case .freeSpace: .freeSpace(1000)
        default: nil
        }
      }
    }
    #expect(error?.code == .noSpace && error?.message.contains("bytes are missing") == true)
  }

  @Test("if the disk is full before the payload is complete, the error says how many bytes are missing at least")
  func fullDiskForSpool() async throws {
    let project = try project(large: true)
    let error = await project.refusal {
      $0.settings.frameSize = 1 << 20
      $0.files = FaultyFiles { call in
        switch call.operation {
        case .write: .failure(.fullDisk)
        case .freeSpace: .freeSpace(1 << 20)
        default: nil
        }
      }
    }
    #expect(error?.code == .noSpace && error?.message.contains("at least") == true)
  }

  @Test("bytes that were written before the disk was full are not counted as missing")
  func fullDiskAfterPart() async throws {
    let project = try project(large: true)
    func missing(at number: Int, after part: Int) async throws -> Int {
      let writes = Monitor(0)
      let error = await project.refusal {
        $0.settings.frameSize = 1 << 20
        $0.jobs = 1
        $0.files = FaultyFiles { call in
          switch call.operation {
          case .write:
            writes.withLock { writes in
              writes += 1
              guard writes >= number else { return nil }
              return writes == number && part > 0 ? .short(part) : .failure(.fullDisk)
            }
          case .freeSpace: .freeSpace(0)
          default: nil
          }
        }
      }
      return try #require(error?.message.split(separator: " ").compactMap { Int($0) }.first, "\(error?.message ?? "")")
    }
    // The first writes are small.
    var (number, whole) = (1, 0)
    while whole < 100_000, number < 20 {
      number += 1
      whole = try await missing(at: number, after: 0)
    }
    #expect(whole >= 100_000)
    // A segment is one write, and the fault is in the middle of one.
    #expect(try await missing(at: number, after: 1000) == whole - 1000)
  }

  @Test("if the directory of the output does not exist, the error names it")
  func noDirectory() async throws {
    var project = try project()
    project.output = "nowhere/out.pack"
    let error = await project.refusal()
    #expect(error?.code == .cannotWrite && error?.message.contains("nowhere") == true)
  }

  @Test("if the task is cancelled, the earlier output or the complete new one is left")
  func cancelled() async throws {
    let project = try project()
    try await project.pack()
    let finished = project.packed
    var random = SeededGenerator()
    let counting = FaultyFiles()
    try await project.pack { $0.files = counting }
    var cancelledRuns = 0
    for _ in 0..<40 {
      try project.directory.write(Array("the earlier pack".utf8), to: project.output)
      let moment = Int.random(in: 0..<counting.calls.count, using: &random)
      let jobs = Int.random(in: 1...4, using: &random)
      let task = Monitor<Task<PackError?, Never>?>(nil)
      let files = FaultyFiles { call in
        if call.number == moment { task.withLock { $0?.cancel() } }
        return nil
      }
      let started = Task { () -> PackError? in
        // Waits until the file system below can cancel the task.
        while task.withLock({ $0 == nil }) { await Task.yield() }
        do throws(PackError) {
          try await project.pack {
            $0.files = files
            $0.jobs = jobs
          }
          return nil
        } catch {
          return error
        }
      }
      task.withLock { $0 = started }
      if let error = await started.value {
        #expect(error.code == .cancelled, "at call \(moment): \(error)")
        let isUntouched = project.packed == Array("the earlier pack".utf8)
        #expect(isUntouched, "at call \(moment)")
        cancelledRuns += 1
      } else {
        let isWhole = project.packed == finished
        #expect(isWhole, "at call \(moment)")
      }
      #expect(project.directory.names() == ["out.pack", "tree"], "at call \(moment)")
    }
    #expect(cancelledRuns > 0)
  }

  @Test("settings that are out of range are refused")
  func settings() async throws {
    let project = try project()
    let changes: [(inout PackJob) -> Void] = [
      { $0.settings.level = .number(0) }, { $0.settings.level = .number(20) }, { $0.settings.frameSize = 65_535 },
      { $0.settings.frameSize = (8 << 20) + 1 },
      { $0.settings.segmentSize = 4095 },
      { $0.settings.segmentSize = 2 << 20 }, { $0.settings.segmentSize = 0 }, { $0.packVersion = 1 << 53 }, { $0.jobs = 0 },
      { $0.jobs = -1 },
      { $0.jobs = .max },
    ]
    for change in changes { #expect(await project.refusal(change)?.code == .usage) }
  }

  @Test("reading and verifying refuse an invalid number of threads", arguments: [0, -1, 1025, .max])
  func readingJobs(_ jobs: Int) async throws {
    let project = try project()
    try await project.pack()
    let pack = try project.open()
    let verifying = await #expect(throws: PackError.self) { try await pack.verify(jobs: jobs) }
    let unpacking = await #expect(throws: PackError.self) { try await pack.unpack(to: project.directory("out"), jobs: jobs) }
    let releasing = await #expect(throws: PackError.self) { try await project.verify(jobs: jobs) }
    #expect(verifying?.code == .usage && unpacking?.code == .usage && releasing?.code == .usage)
    #expect(project.directory.names() == ["out.pack", "tree"])
  }
}
