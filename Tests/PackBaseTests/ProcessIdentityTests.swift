import Foundation
import TestSupport
import Testing

@Suite("The identity of a process")
struct ProcessIdentityTests {
  private let mine = ProcessIdentity.current

  private func isAlive(boot: String? = nil, number: Int32? = nil, started: UInt64? = nil) throws -> Bool {
    let text = "\(boot ?? mine.boot)-\(number ?? mine.number)-\(String(started ?? mine.started, radix: 16))"
    return try #require(ProcessIdentity(text)).isAlive
  }

  @Test("this process is alive, and is the same after its text was read")
  func own() throws {
    #expect(mine.isAlive)
    #expect(mine.number == getpid())
    #expect(mine.started != 0)
    #expect(ProcessIdentity(mine.description) == mine)
  }

  @Test("a process that got the number of an earlier one is not taken for it")
  func reusedNumber() throws {
    #expect(try !isAlive(started: mine.started + 1))
    #expect(try !isAlive(started: mine.started - 1))
    // If the start is unknown, a process that may run counts as alive.
    #expect(try isAlive(started: 0))
  }

  @Test("no process of an earlier start of the system is alive")
  func earlierBoot() throws {
    let other = String(mine.boot.reversed()) == mine.boot ? "0123456789abcdef" : String(mine.boot.reversed())
    #expect(try !isAlive(boot: other))
  }

  @Test("a process that ended is not alive")
  func ended() throws {
    let process = try ChildProcess("/bin/sh", ["-c", "exit 0"])
    process.wait()
    #expect(try !isAlive(number: process.number))
  }

  @Test(
    "other texts are no identities",
    arguments: [
      "", "-", "--", "0123456789abcdef-1", "0123456789abcdef-0-1", "0123456789abcdef--1-1", "0123456789abcde-1-1", "0123456789abcdef-1-x",
    ])
  func otherTexts(text: String) {
    #expect(ProcessIdentity(text) == nil)
  }
}
