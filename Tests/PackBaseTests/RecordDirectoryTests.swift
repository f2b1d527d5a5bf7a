import Foundation
import TestSupport
import Testing

@Suite("A directory of records", .bounded)
struct RecordDirectoryTests {
  private let disk = MemoryDisk()
  private let form = RecordDirectory.Form("packer-sample/2", in: "sample", isPrivate: true)

  private func open(_ files: (any FileSystem)? = nil) throws(PackError) -> RecordDirectory {
    try RecordDirectory(making: "/records", form, files: files ?? MemoryFiles(disk))
  }

  // MARK: Opening

  @Test("is made with its parents if they are wanted, and survives a power cut", arguments: [true, false])
  func parents(withParents: Bool) throws {
    let files = MemoryFiles(disk)
    let error = failure { () throws(PackError) in
      _ = try RecordDirectory(making: "/a/b", form, withParents: withParents, files: files)
    }
    #expect(error?.code == (withParents ? nil : .cannotWrite))
    #expect(disk.after(.powerCut).tree() == (withParents ? ["a": nil, "a/b": nil] : [:]))
  }

  @Test(
    "says by its marker whether it is of this kind and version",
    arguments: [
      ("packer-sample/2\n", RecordDirectory.Kind.own), ("packer-sample/3\n", .ofOtherVersion), ("packer-sample/21\n", .ofOtherVersion),
      ("packer-sample/2", .foreign), ("packer-other/2\n", .foreign), ("", .foreign),
      (String(repeating: "packer-sample/2\n", count: 5), .foreign),
    ])
  func marker(text: String, kind: RecordDirectory.Kind) throws {
    let directory = try open()
    #expect(try directory.kind() == .unmarked)
    disk.write(Array(text.utf8), to: "/records/sample")
    #expect(try directory.kind() == kind)
    try directory.mark(by: "temporary")
    try directory.settle()
    #expect(try directory.kind() == .own)
    #expect(disk.after(.powerCut).bytes(of: "/records/sample") == Array("packer-sample/2\n".utf8))
  }

  @Test("makes its folders, and removes something else in the place of one only if it may", arguments: [false, true])
  func folders(removesOthers: Bool) throws {
    let directory = try open()
    disk.write([1], to: "/records/b")
    try directory.makeFolders(["a", "b"], removesOthers: removesOthers)
    try directory.settle()
    #expect(disk.after(.powerCut).tree(below: "/records") == (removesOthers ? ["a": nil, "b": nil] : ["a": nil, "b": [1]]))
  }

  // MARK: Files

  @Test("content up to the limit is read, and more is not taken for a file", arguments: [0, 1, 99, 100, 101, 50_000])
  func limit(size: Int) throws {
    let directory = try open()
    #expect(try directory.contents(of: "a", limit: 100) == nil)
    let bytes = [UInt8](repeating: 7, count: size)
    disk.write(bytes, to: "/records/a")
    #expect(try directory.contents(of: "a", limit: 100) == (size <= 100 ? .file(bytes) : .longFile(Array(bytes.prefix(101)))))
  }

  @Test("a directory and a symbolic link are not files")
  func otherThings() throws {
    let place = try TemporaryDirectory()
    let directory = try RecordDirectory(making: place("records"), form, files: SystemFiles())
    try directory.makeFolders(["folder"])
    try FileManager.default.createSymbolicLink(atPath: place("records/link"), withDestinationPath: "folder")
    #expect(try directory.contents(of: "folder", limit: 10) == .other)
    #expect(try directory.contents(of: "link", limit: 10) == .other)
  }

  @Test("what was replaced or removed is on the disk when it is settled, and a change after those before it")
  func durable() throws {
    let directory = try open()
    try directory.makeFolders(["old", "new"])
    try directory.replace("new/a", with: [1].byteSpan, by: "temporary")
    try directory.replace("old/b", with: [2].byteSpan, by: "temporary")
    #expect(disk.after(.powerCut).tree(below: "/records") == ["old": nil, "new": nil, "new/a": [1]])
    try directory.settle()
    #expect(disk.after(.powerCut).tree(below: "/records") == ["old": nil, "new": nil, "new/a": [1], "old/b": [2]])
    #expect(try directory.remove("old/b"))
    try directory.settle()
    #expect(disk.after(.powerCut).tree(below: "/records") == ["old": nil, "new": nil, "new/a": [1]])
    #expect(try !directory.remove("old/b"))
    #expect(try directory.remove("new"))
    try directory.settle()
    #expect(disk.after(.powerCut).tree(below: "/records") == ["old": nil])
    #expect(try directory.names() == ["old"] && directory.names(in: "gone") == [])
  }

  @Test("an error names the file, and says how much space is missing")
  func errors() throws {
    let files = MemoryFiles(disk, .failing(.fullDisk) { $0.operation == "write" })
    let directory = try open(files)
    let error = failure { () throws(PackError) in try directory.replace("a", with: [1].byteSpan, by: "temporary") }
    #expect(error?.code == .noSpace)
    #expect("\(try #require(error))".hasPrefix("/records/a cannot be written"))
  }

  // MARK: Lock

  /// A clock whose pauses are counted, and call a closure.
  private struct WaitClock: DeviceClock {
    let paused = Monitor<Duration>(.zero)
    var happen: @Sendable () -> Void = {}

    var secondsSince1970: Int64 { 0 }

    func pause(for duration: Duration) {
      paused.withLock { $0 += duration }
      happen()
    }
  }

  @Test("a lock that is held is waited for, for as long as the caller says and hardly longer")
  func timeout() throws {
    let directory = try open()
    let clock = WaitClock()
    let lock = try #require(try directory.lock(LockWait(.seconds(1), clock: clock)))
    #expect(clock.paused.withLock { $0 } == .zero)
    #expect(try open().lock(LockWait(.seconds(1), clock: clock)) == nil)
    #expect((1000...1008).contains(clock.paused.withLock { $0.microseconds / 1000 }))
    withExtendedLifetime(lock) {}
  }

  @Test("a lock that is released meanwhile is taken")
  func released() throws {
    let held = Monitor(try open().lock(LockWait(.zero, clock: WaitClock())))
    let clock = WaitClock { held.withLock { $0 = nil } }
    #expect(try open().lock(LockWait(.seconds(1), clock: clock)) != nil)
    #expect(clock.paused.withLock { $0 } == .microseconds(250))
  }

  @Test("a wait ends as soon as the work is cancelled, and takes nothing", arguments: [false, true])
  func cancelled(inPool: Bool) async throws {
    let directory = try open()
    let lock = try directory.lock(LockWait(.zero, clock: WaitClock()))
    let task = Monitor<Task<PackError?, Never>?>(nil)
    // The wait cancels its own task, because it may block the only thread that is free.
    let clock = WaitClock { task.withLock { $0 }?.cancel() }
    task.withLock {
      $0 = Task {
        do throws(PackError) {
          if inPool {
            let wait = LockWait(.seconds(3600), clock: clock) { WorkerPool.isCancelled }
            _ = try await WorkerPool.settled { () throws(PackError) in try directory.lock(wait) }
          } else {
            _ = try directory.lock(LockWait(.seconds(3600), clock: clock))
          }
          return nil
        } catch {
          return error
        }
      }
    }
    #expect(await task.withLock { $0 }?.value?.code == .cancelled)
    withExtendedLifetime(lock) {}
    #expect(!WorkerPool.isCancelled)
  }

  @Test("a lock file that was removed and made again while it was opened has one owner")
  func madeAgain() throws {
    _ = try open().lock(LockWait(.zero, clock: WaitClock()))
    let other = Monitor<OpenFile?>(nil)
    let calls = Monitor(0)
    // After the directory and its lock file were opened, the third call locks the file.
    let files = MemoryFiles(disk) { [disk, form] in
      calls.withLock { $0 += 1 }
      guard calls.withLock({ $0 }) == 3 else { return }
      disk.remove("/records/lock")
      let theirs = try? RecordDirectory(opening: "/records", form, files: MemoryFiles(disk))
      other.withLock { $0 = try? theirs?.lock(LockWait(.zero, clock: WaitClock())) }
    }
    let ours = try open(files)
    #expect(try ours.lock(LockWait(.milliseconds(10), clock: WaitClock())) == nil)
    #expect(other.withLock { $0 } != nil)
  }

  @Test("a directory without a lock file is locked itself")
  func ownLock() throws {
    let place = try TemporaryDirectory()
    try place.makeDirectory("dist")
    let files = SystemFiles()
    let held = Monitor(try LockWait(.zero, clock: WaitClock()).lock(directory: place("dist"), for: "dist/lock", files: files))
    #expect(held.withLock { $0 } != nil)
    #expect(try LockWait(.seconds(1), clock: WaitClock()).lock(directory: place("dist"), for: "dist/lock", files: files) == nil)
    held.withLock { $0 = nil }
    #expect(try LockWait(.zero, clock: WaitClock()).lock(directory: place("dist"), for: "dist/lock", files: files) != nil)
    let error = failure { () throws(PackError) in
      _ = try LockWait(.zero, clock: WaitClock()).lock(directory: place("gone"), for: "gone/lock", files: files)
    }
    #expect(error?.code == .cannotWrite)
    #expect("\(try #require(error))".hasPrefix("gone/lock "))
  }
}
