import Foundation
import TestSupport
import Testing

@testable import PackDelivery

/// The oracle: two changes at the same time end as one after the other, and what they reported is on the disk when they return.
@Suite("App and extension with one state", .bounded)
struct StateInterleavingTests {
  /// The operations of the second process before which the first one continues.
  private static let returns = 1..<40

  /// Something that the app or the extension does with the state. The text describes the result.
  struct Operation: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Whether it reads the state before it takes the lock, so that it may do less than it would do alone.
    var isModest = false
    let work: @Sendable (SharedState, MemoryFiles) throws(PackError) -> String
  }

  /// Packs `a` and `b` are being downloaded, `c` and `d` wait in the directory, `e` is not asked for.
  static let operations: [Operation] = [
    Operation(testDescription: "a file arrives") { (state, _) throws(PackError) in
      "\(try state.park("/system/a", asDownload: identifier("a")))"
    },
    Operation(testDescription: "a download fails") { (state, _) throws(PackError) in
      "\(try state.downloadFailed(.download(identifier: identifier("a")), .offline))"
    },
    Operation(testDescription: "a download begins") { (state, _) throws(PackError) in
      "\(try state.note(.began, ofDownload: identifier("a"))?.state.description ?? "nothing")"
    },
    Operation(testDescription: "a download is cancelled") { (state, _) throws(PackError) in
      "\(try state.cancel("a")?.description ?? "nothing")"
    },
    Operation(testDescription: "the other download fails, with a lock file that is removed") { (state, files) throws(PackError) in
      files.removeFreeLock("/group/lock")
      return "\(try state.downloadFailed(.download(identifier: identifier("a")), .http(status: 500)))"
    },
    Operation(testDescription: "an installation ends") { (state, _) throws(PackError) in
      "\(try state.finishInstall(HandOver(id: "d", bytes: bytes("d", 1), mode: .packed), .installed)?.state.description ?? "nothing")"
    },
    Operation(testDescription: "an installation fails") { (state, _) throws(PackError) in
      "\(try state.finishInstall(HandOver(id: "d", bytes: bytes("d", 1), mode: .packed), .failed(.wrongBytes))?.state.description ?? "nothing")"
    },
    Operation(testDescription: "a plan", isModest: true) { (state, _) throws(PackError) in
      let plan = try state.plan(
        for: manifest(["a", "b", "c", "d", "e"].map { offer($0) }), facts: DeliveryFacts(.launch, at: now, asked: ["e"])
      ).plan
      return "\(plan.downloads.map(\.id)) \(plan.handOver.map(\.id))"
    },
    Operation(testDescription: "a plan of a newer manifest", isModest: true) { (state, _) throws(PackError) in
      let plan = try state.plan(for: manifest([offer("a", 2), offer("c", 2), offer("d")]), facts: DeliveryFacts(.launch, at: now)).plan
      return "\(plan.downloads.map(\.id)) \(plan.handOver.map(\.id))"
    },
    Operation(testDescription: "unneeded files are discarded", isModest: true) { (state, _) throws(PackError) in
      "\(try state.discard([identifier("a"), identifier("c")]))"
    },
  ]

  @Test("lose no change, and keep it if the power fails", arguments: operations)
  func everySwitch(first: Operation) async throws {
    var points = 0
    var runs = 0
    let base = try Self.base()
    for second in Self.operations {
      let orders = [try Self.inOrder(first, second, base), try Self.inOrder(second, first, base)]
      let isModest = first.isModest || second.isModest
      let pair = "\(first.testDescription), \(second.testDescription)"
      // Run one after the other, the first one shows how many operations it has.
      let apart = Interleaving(first: .max)
      await Self.run(first, second, apart, on: base.after(.kill))
      points += apart.counts[0]
      var operations = Effort.Operations(of: apart.counts[0], 6, for: pair)
      var isReached = true
      while let point = operations.next(isReached: isReached) {
        isReached = false
        for back in [nil] + Effort.sample(of: Self.returns, 1, for: "\(pair) \(point)") as [Int?] {
          let disk = base.after(.kill)
          let switches = Interleaving(first: point, second: back)
          await Self.run(first, second, switches, on: disk)
          isReached = isReached || switches.counts[0] > point
          runs += 1
          let place =
            "\(first.testDescription) until operation \(point), \(second.testDescription) until \(back.map(String.init) ?? "its end")"
          let left = try Self.lines(disk)
          guard orders.contains(left) || isModest && Self.isWhole(left) else {
            Issue.record("\(place): \(left), but expected \(orders)")
            return
          }
          for crash in [MemoryDisk.Crash.powerCut, .zeroedContent] {
            let after = try Self.lines(disk.after(crash))
            guard after == left else {
              Issue.record("\(place), then \(crash): \(after), before \(left)")
              return
            }
          }
        }
      }
    }
    // The arrival of a file has nine.
    #expect(points >= 9 * Self.operations.count)
    print("interleaving: \(first.testDescription) with \(Self.operations.count) operations: \(points) switch points, \(runs) runs")
  }

  @Test("two plans at the same time never hand over the same download")
  func twoPlans() async throws {
    let base = try Self.base()
    var point = 0
    var isReached = true
    while isReached {
      isReached = false
      for back in [nil] + Effort.sample(of: Array(stride(from: 1, to: 60, by: 4)), 5, for: "two plans, \(point)") as [Int?] {
        let disk = base.after(.kill)
        let switches = Interleaving(first: point, second: back)
        let gate = Monitor<Interleaving?>(nil)
        let downloads = Monitor<[String]>([])
        let states = try [0, 1].map { process in
          try SharedState.sample(
            MemoryFiles(disk, before: { gate.withLock { $0 }?.step(process) }), SwitchingClock(gate, process))
        }
        gate.withLock { $0 = switches }
        await withTaskGroup(of: Void.self) { group in
          for process in [0, 1] {
            group.addTask {
              await WorkerPool.settled {
                let facts = DeliveryFacts(.launch, at: now, asked: ["e"])
                let packs = ["a", "b", "c", "d", "e"].map { offer($0) }
                if let plan = try? states[process].plan(for: manifest(packs), facts: facts).plan {
                  downloads.withLock { $0 += plan.downloads.map(\.id) }
                }
                switches.end(process)
              }
            }
          }
        }
        gate.withLock { $0 = nil }
        isReached = isReached || switches.counts[0] > point
        #expect(
          downloads.withLock { $0 } == ["e"], "the first until operation \(point), the second until \(back.map(String.init) ?? "its end")")
      }
      point += 1
    }
    #expect(point > 20)
  }

  /// Whether each file that waits has a record that says so. Plans read before they change something.
  private static func isWhole(_ lines: [String]) -> Bool {
    lines.allSatisfy { line in
      guard line.hasPrefix("file "),
        let id = line.split(separator: " ").last.flatMap({ DownloadIdentifier(String($0)) })
      else { return true }
      return lines.contains { $0.hasPrefix("\(id.id) ") }
    }
  }

  // MARK: Steps

  private static func base() throws -> MemoryDisk {
    let disk = MemoryDisk()
    let state = try SharedState.sample(MemoryFiles(disk), TestClock())
    try state.schedule(offer("a"), offer("b"), offer("c"), offer("d"))
    for id in ["c", "d"] {
      disk.write([UInt8](repeating: 7, count: 1000), to: "/system/\(id)")
      _ = try state.park("/system/\(id)", asDownload: identifier(id))
    }
    disk.write([UInt8](repeating: 7, count: 1000), to: "/system/a")
    return disk
  }

  private static func inOrder(_ first: Operation, _ second: Operation, _ base: MemoryDisk) throws -> [String] {
    let disk = base.after(.kill)
    for operation in [first, second] {
      let files = MemoryFiles(disk)
      let state = try SharedState.sample(files, TestClock())
      _ = failure { () throws(PackError) in _ = try operation.work(state, files) }
    }
    return try lines(disk)
  }

  private static func run(_ first: Operation, _ second: Operation, _ switches: Interleaving, on disk: MemoryDisk) async {
    let gate = Monitor<Interleaving?>(nil)
    let files = [0, 1].map { process in MemoryFiles(disk, before: { gate.withLock { $0 }?.step(process) }) }
    let states = [0, 1].map { try? SharedState.sample(files[$0], SwitchingClock(gate, $0)) }
    gate.withLock { $0 = switches }
    await withTaskGroup(of: Void.self) { group in
      for (process, operation) in [first, second].enumerated() {
        group.addTask {
          await WorkerPool.settled {
            if let state = states[process] { _ = failure { () throws(PackError) in _ = try operation.work(state, files[process]) } }
            switches.end(process)
          }
        }
      }
    }
    gate.withLock { $0 = nil }
  }

  /// Returns what the state says, and the files that wait.
  private static func lines(_ disk: MemoryDisk) throws -> [String] {
    let content = try SharedState.sample(MemoryFiles(disk.after(.kill)), TestClock()).content()
    return content.records.map { "\($0.id) \($0.bytes.version) \($0.state)\($0.isWanted ? ", wanted" : "")" }
      + content.damaged.map { "\($0) is damaged" }
      + content.files.map { "file \($0.size) \($0.identifier)" }
  }
}

/// A clock that lets the other process continue while this one waits for a lock.
private struct SwitchingClock: DeviceClock {
  private let gate: Monitor<Interleaving?>
  private let process: Int

  init(_ gate: Monitor<Interleaving?>, _ process: Int) {
    self.gate = gate
    self.process = process
  }

  var secondsSince1970: Int64 { TestClock().secondsSince1970 }

  func pause(for duration: Duration) {
    gate.withLock { $0 }?.pause(process)
  }
}
