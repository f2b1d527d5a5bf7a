import Foundation
import TestSupport
import Testing

@testable import PackProject

/// Runs each job on a thread of its own. Reading blocks the thread, and other tests need those that tasks share.
private final class ThreadExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

@Suite("The output of programs", .bounded)
struct ProgramOutputTests {
  private func read(_ words: String..., limit: Int = 1000, allowing statuses: [CInt] = []) throws(PackError) -> [UInt8] {
    try ProgramOutput.read(words, limit: limit, files: SystemFiles(), allowing: statuses)
  }

  @Test("is read to its end, also if it comes late or is longer than a pipe")
  func whole() throws {
    #expect(try read("sh", "-c", "printf a; sleep 0.3; printf b") == Array("ab".utf8))
    #expect(try read("sh", "-c", "head -c 300000 /dev/zero", limit: 300_000).count == 300_000)
    #expect(try read("sh", "-c", "head -c 300000 /dev/zero", limit: 5).count == 6)
    #expect(try read("sh", "-c", "exit 3", allowing: [3]).isEmpty)
  }

  @Test("is an error if the program is not there, or ends with another status")
  func failures() {
    for words in [["sh", "-c", "exit 3"], ["/nowhere/program"], ["sh", "-c", "kill -9 $$"]] {
      let error = #expect(throws: PackError.self) { try ProgramOutput.read(words, limit: 10, files: SystemFiles(), allowing: [1]) }
      #expect(error?.code == .cannotRead)
    }
  }

  @Test("ends with the task: a program that is asked to end does, and another is killed", arguments: ["", "trap '' TERM; "])
  func cancelled(trap: String) async throws {
    let directory = try TemporaryDirectory()
    let file = directory("number")
    let task = Task.detached(executorPreference: ThreadExecutor()) { () -> PackError? in
      do throws(PackError) {
        _ = try ProgramOutput.read(["sh", "-c", "\(trap)echo $$ > \(file); while :; do sleep 0.1; done"], limit: 10, files: SystemFiles())
        return nil
      } catch {
        return error
      }
    }
    Thread.detachNewThread {
      while (try? String(contentsOfFile: file, encoding: .utf8))?.hasSuffix("\n") != true { usleep(20_000) }
      task.cancel()
    }
    #expect(await task.value?.code == .cancelled)
    let process = try #require(Int32(try String(contentsOfFile: file, encoding: .utf8).dropLast()))
    #expect(kill(process, 0) == -1 && errno == ESRCH)
  }
}
