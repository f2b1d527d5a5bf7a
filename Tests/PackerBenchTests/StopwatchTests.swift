import TestSupport
import Testing

@testable import packer_bench

@Suite("Measuring processes", .serialized)
struct StopwatchTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test("a large benchmark does not make a small command look large")
  func inheritedMemory() throws {
    // Every page is written to, so all of it is resident while the command starts.
    let ballast = [UInt8](repeating: 1, count: 200 << 20)

    let measurement = try Stopwatch(scratch: directory.path).run("exec true")

    withExtendedLifetime(ballast) {}
    #expect(measurement.peakMemory > 100 << 10)
    #expect(measurement.peakMemory < 16 << 20)
  }

  @Test("the memory of a command is the memory of its largest process")
  func largestProcess() throws {
    let measurement = try Stopwatch(scratch: directory.path).run("text=$(head -c 60000000 /dev/zero | tr '\\0' a); echo ${#text} | cat")

    #expect(measurement.peakMemory > 60_000_000)
  }

  @Test("processor time includes all processes of a pipeline")
  func processorTime() throws {
    let loop = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"
    let stopwatch = Stopwatch(scratch: directory.path)

    let one = try stopwatch.run(loop)
    let three = try stopwatch.run("(\(loop)) | (\(loop)) | (\(loop))")

    // Only that the others are counted. Durations are not tested.
    #expect(one.cpu > 0)
    #expect(three.cpu > 1.5 * one.cpu)
  }

  @Test("a command that fails anywhere in its pipeline is an error with its output", arguments: ["false", "false | cat", "exit 3"])
  func failure(_ script: String) throws {
    #expect(throws: PackError.self) { try Stopwatch(scratch: directory.path).run(script) }
  }

  @Test("the error contains the output of a failing command")
  func words() throws {
    do throws(PackError) {
      _ = try Stopwatch(scratch: directory.path).run("echo the disk is gone >&2; false")
      Issue.record("the failure went unnoticed")
    } catch {
      #expect(error.message.contains("the disk is gone"))
    }
  }

  @Test("every entrant runs once a round, and the order changes")
  func rotation() throws {
    let log = directory("log")
    try Disk().write("", to: log)
    let contest = Contest(stopwatch: Stopwatch(scratch: directory.path), rounds: 3)

    let results = try contest.run(["a", "b", "c"].map { Contest.Entrant(name: $0, script: "echo \($0) >>\(log)") })

    #expect(try Disk().text(log).split(separator: "\n") == ["a", "b", "c", "b", "c", "a", "c", "a", "b"])
    #expect(results.ratios("a", to: "b") { $0.wall }.count == 3)
  }

  @Test("the median is the middle value", arguments: [([3, 1, 2], 2), ([4, 1], 2.5), ([7], 7), ([], 0)] as [([Double], Double)])
  func median(_ values: [Double], _ expected: Double) {
    #expect(values.median == expected)
  }
}
