import Foundation
import PackFiles
import PackFormat
import TestSupport
import Testing

@testable import PackBuild
@testable import PackWork

/// Packing that cannot be finished: what stood there before is still there, and nothing else.
@Suite("Packing that fails", .timeLimit(.minutes(10)))
struct FailureTests {
  private func shop(large: Bool = false) throws -> ServerState {
    let shop = try ServerState()
    var random = SeededGenerator(seed: 11)
    try shop.add("a.txt", Array("text".utf8))
    try shop.add("copy.txt", Array("text".utf8))
    try shop.add("sub/large.bin", random.bytes(150_000))
    if large {
      for number in 0..<9 { try shop.add("\(number).bin", random.bytes(2_100_000)) }
    }
    try shop.directory.makeDirectory("tree/empty")
    try shop.directory.write(Array("the earlier pack".utf8), to: shop.output)
    return shop
  }

  @Test("because any one file operation fails leaves the earlier output as it was", arguments: [FileFailure.inputOutput, .fullDisk])
  func everyOperation(_ failure: FileFailure) async throws {
    let shop = try shop()
    let counting = FaultyFiles()
    try await shop.pack {
      $0.files = counting
      $0.jobs = 1
    }
    let finished = shop.packed
    let calls = counting.calls
    #expect(calls.count > 40)
    // The rename is the moment from which the new pack stands there.
    let renamed = try #require(calls.last { $0.operation == .rename }).number
    for call in calls where call.number <= renamed {
      try shop.directory.write(Array("the earlier pack".utf8), to: shop.output)
      do throws(PackError) {
        try await shop.pack {
          $0.files = FaultyFiles.failing(at: call.number, with: failure)
          $0.jobs = 1
        }
        // Looking for stale names may fail without harm.
        let isWhole = shop.packed == finished
        #expect(isWhole, "\(call)")
      } catch {
        let known: Set<PackError.Code> = [.cannotRead, .cannotWrite, .noSpace, .unsuitableSource, .sourceChanged]
        #expect(known.contains(error.code), "\(call): \(error)")
        let isUntouched = shop.packed == Array("the earlier pack".utf8)
        #expect(isUntouched, "\(call)")
      }
      // Where removing itself failed, its temporary file is gone with the next run.
      if call.operation != .remove {
        #expect(shop.directory.names() == ["out.pack", "tree"], "\(call)")
      }
    }
  }

  @Test(
    "because everything fails from one operation on leaves the earlier output or the new one, and the next run is clean",
    arguments: [1, 3])
  func crashes(_ jobs: Int) async throws {
    let shop = try shop()
    let counting = FaultyFiles()
    try await shop.pack {
      $0.files = counting
      $0.jobs = jobs
    }
    let finished = shop.packed
    for number in stride(from: 0, to: counting.calls.count, by: 3) {
      try shop.directory.write(Array("the earlier pack".utf8), to: shop.output)
      do throws(PackError) {
        try await shop.pack {
          $0.files = FaultyFiles.stopping(at: number)
          $0.jobs = jobs
        }
      } catch {
        let isUntouched = shop.packed == Array("the earlier pack".utf8)
        let isWhole = shop.packed == finished
        #expect(isUntouched || isWhole, "from call \(number) on: \(error)")
      }
    }
    try await shop.pack()
    #expect(shop.directory.names() == ["out.pack", "tree"])
  }

  @Test("because the disk is full at the end says how many bytes are missing")
  func fullDisk() async throws {
    let shop = try shop()
    let recorder = FaultyFiles()
    try await shop.pack {
      $0.files = recorder
      $0.jobs = 1
    }
    // The whole pack is one piece, encrypted and written again where it lies: a volume may have no room even for that.
    let last = try #require(recorder.calls.last { $0.operation == .write }).number
    let error = await shop.refusal {
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

  @Test("because the disk is full while writing says how many bytes are missing")
  func fullDiskWhileWriting() async throws {
    let shop = try shop()
    let error = await shop.refusal {
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

  @Test("because the disk is full before the payload is known says how many bytes are missing at least")
  func fullDiskForSpool() async throws {
    let shop = try shop(large: true)
    let error = await shop.refusal {
      $0.frameSize = 1 << 20
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

  @Test("because the directory of the output does not exist says so before anything is read")
  func noDirectory() async throws {
    var shop = try shop()
    shop.output = "nowhere/out.pack"
    let error = await shop.refusal()
    #expect(error?.code == .cannotWrite && error?.message.contains("nowhere") == true)
  }

  @Test("because the task is cancelled leaves the earlier output or the whole new one")
  func cancelled() async throws {
    let shop = try shop()
    try await shop.pack()
    let finished = shop.packed
    var random = SeededGenerator()
    let counting = FaultyFiles()
    try await shop.pack { $0.files = counting }
    var cancelledRuns = 0
    for _ in 0..<40 {
      try shop.directory.write(Array("the earlier pack".utf8), to: shop.output)
      let moment = Int.random(in: 0..<counting.calls.count, using: &random)
      let jobs = Int.random(in: 1...4, using: &random)
      let task = Monitor<Task<PackError?, Never>?>(nil)
      let files = FaultyFiles { call in
        if call.number == moment { task.withLock { $0?.cancel() } }
        return nil
      }
      let started = Task { () -> PackError? in
        // Until the task is known, nobody could cancel it.
        while task.withLock({ $0 == nil }) { await Task.yield() }
        do throws(PackError) {
          try await shop.pack {
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
        let isUntouched = shop.packed == Array("the earlier pack".utf8)
        #expect(isUntouched, "at call \(moment)")
        cancelledRuns += 1
      } else {
        let isWhole = shop.packed == finished
        #expect(isWhole, "at call \(moment)")
      }
      #expect(shop.directory.names() == ["out.pack", "tree"], "at call \(moment)")
    }
    #expect(cancelledRuns > 0)
  }

  @Test("because a setting is out of range is told before anything is read")
  func settings() async throws {
    let shop = try shop()
    let changes: [(inout PackJob) -> Void] = [
      { $0.level = .number(0) }, { $0.level = .number(20) }, { $0.frameSize = 65_535 }, { $0.frameSize = (8 << 20) + 1 },
      { $0.segmentSize = 4095 },
      { $0.segmentSize = 2 << 20 }, { $0.segmentSize = 0 }, { $0.packVersion = 1 << 53 }, { $0.jobs = 0 }, { $0.jobs = -1 },
      { $0.jobs = .max },
    ]
    for change in changes { #expect(await shop.refusal(change)?.code == .usage) }
  }

  @Test("and so does reading with a number of threads that makes no sense", arguments: [0, -1, 1025, .max])
  func readingJobs(_ jobs: Int) async throws {
    let shop = try shop()
    try await shop.pack()
    let pack = try shop.open()
    let verifying = await #expect(throws: PackError.self) { try await pack.verify(jobs: jobs) }
    let unpacking = await #expect(throws: PackError.self) { try await pack.unpack(to: shop.directory("out"), jobs: jobs) }
    let releasing = await #expect(throws: PackError.self) { try await shop.verify(jobs: jobs) }
    #expect(verifying?.code == .usage && unpacking?.code == .usage && releasing?.code == .usage)
    #expect(shop.directory.names() == ["out.pack", "tree"])
  }
}
