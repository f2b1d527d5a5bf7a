import Foundation
import TestSupport
import Testing

@testable import PackProject

@Suite("References to keys", .bounded)
struct KeyReferenceTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private static func text() throws -> [UInt8] { try key(filledFrom: 0).withText { [UInt8](copying: $0) } }

  @Test(
    "a key file that others can read or change gets a warning, and no other does",
    arguments: [
      (0o600, nil), (0o400, nil), (0o700, nil), (0o640, "read"), (0o604, "read"), (0o644, "read"), (0o620, "changed"), (0o602, "changed"),
      (0o622, "changed"), (0o660, "read and changed"), (0o606, "read and changed"), (0o642, "read and changed"),
      (0o624, "read and changed"), (0o666, "read and changed"), (0o611, nil),
    ] as [(Int, String?)])
  func openness(mode: Int, verb: String?) throws {
    let path = try directory.write(Self.text(), to: "game.key", mode: mode)
    var warnings: [KeyWarning] = []
    _ = try KeyReference(parsing: path).resolve { warnings.append($0) }
    #expect(warnings.map(\.message) == (verb.map { ["key file \(path) can be \($0) by other users of this machine"] } ?? []))
  }

  @Test("a new key file can be read and changed by its owner only")
  func newFile() throws {
    try KeyFile.write(key(filledFrom: 0), to: directory("game.key"), files: FaultyFiles())
    #expect(try directory.mode(of: "game.key") == 0o600)
    #expect(try KeyReference(parsing: directory("game.key")).resolve { _ in }.id == key(filledFrom: 0).id)
  }

  @Test("the text of a key does not stay in the environment, and programs do not get the variables of keys")
  func environment() async {
    // In a process of its own: the environment belongs to the whole process.
    await #expect(processExitsWith: .success) {
      let digits = String(repeating: "0123456789abcdef", count: 4)
      let text = String(decoding: try Self.text(), as: UTF8.self)
      setenv("PACKER_KEY", text, 1)
      setenv("PACKER_SIGN_KEY_FILE", "/keys/game.sign.key", 1)
      setenv("OTHER", "key=\(text)", 1)
      setenv("SIGNING", "pks1-\(digits)-00000000", 1)
      setenv("PUBLIC", "pkp1-\(digits)-00000000", 1)
      setenv("TOKEN", digits, 1)
      let names = ProcessEnvironment.lendWithoutKeys { list in
        var names: Set<String> = []
        var next = list
        while let entry = next.pointee {
          names.insert(String(String(cString: entry).prefix { $0 != "=" }))
          next += 1
        }
        return names
      }
      #expect(names.isDisjoint(with: ["PACKER_KEY", "PACKER_SIGN_KEY_FILE", "OTHER", "SIGNING"]))
      #expect(names.isSuperset(of: ["PUBLIC", "TOKEN", "PATH"]))

      let place = try #require(getenv("PACKER_KEY"))
      let id = try KeyReference(parsing: "env:PACKER_KEY").resolve { _ in }.id
      #expect(try id == key(filledFrom: 0).id)
      #expect(getenv("PACKER_KEY") == nil)
      for index in 0..<text.utf8.count { #expect(place[index] == 0) }

      // A variable that names a file or a program does not hold the key itself.
      unsetenv("PACKER_SIGN_KEY_FILE")
      for name in ["PACKER_KEY_FILE", "PACKER_KEY_COMMAND"] {
        for value in [text, digits, "file:\(text)"] {
          setenv(name, value, 1)
          let error = #expect(throws: PackError.self) { _ = try KeyReference.fromEnvironment() }
          #expect(error?.code == .usage)
          #expect(error?.description.contains("01234567") == false && error?.description.contains("pkk1-0") == false)
        }
        unsetenv(name)
      }
    }
  }

  @Test("a program that is started does not get the file descriptor of a key")
  func descriptor() throws {
    var ends: [CInt] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    try #require(fcntl(ends[0], F_GETFD) & FD_CLOEXEC == 0)
    let reference = try KeyReference(parsing: "fd:\(ends[0])")
    #expect(fcntl(ends[0], F_GETFD) & FD_CLOEXEC != 0)
    let text = try Self.text()
    #expect(write(ends[1], text, text.count) == text.count)
    close(ends[1])
    ends[1] = -1
    #expect(try reference.resolve { _ in }.id == key(filledFrom: 0).id)
    // Programs need the standard streams.
    _ = try KeyReference(parsing: "fd:0")
    #expect(fcntl(0, F_GETFD) & FD_CLOEXEC == 0)
  }

  #if os(Linux)
    @Test("a key is not read from a terminal, which would show it")
    func terminal() throws {
      let main = open("/dev/ptmx", O_RDWR | O_NOCTTY)
      try #require(main >= 0)
      defer { close(main) }
      // TIOCSPTLCK and TIOCGPTN, which Swift does not import (ioctl_tty(2)).
      var (lock, number): (CInt, CInt) = (0, 0)
      try #require(ioctl(main, 0x4004_5431, &lock) == 0 && ioctl(main, 0x8004_5430, &number) == 0)
      let terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
      try #require(terminal >= 0)
      defer { close(terminal) }
      // A line and the end of the input, so that a read would not wait.
      let typed = try Self.text() + [0x0A, 0x04]
      try #require(write(main, typed, typed.count) == typed.count)
      let error = #expect(throws: PackError.self) { _ = try KeyReference(parsing: "fd:\(terminal)").resolve { _ in } }
      #expect(error?.code == .noKey)
      #expect(error?.message.contains("is a terminal") == true)
    }
  #endif

  @Test("the output of a key command is a key only if the command ends with status 0", arguments: [0, 1, 3])
  func command(status: Int) throws {
    let text = String(decoding: try Self.text(), as: UTF8.self)
    let script = try directory.write("#!/bin/sh\necho \(text)\nexit \(status)\n".utf8, to: "script", mode: 0o755)
    let reference = try KeyReference(parsing: "cmd:\(script)")
    guard status != 0 else {
      #expect(try reference.resolve { _ in }.id == key(filledFrom: 0).id)
      return
    }
    let error = #expect(throws: PackError.self) { _ = try reference.resolve { _ in } }
    #expect(error?.code == .noKey)
    #expect(error?.description.contains("pkk1") == false)
  }
}
