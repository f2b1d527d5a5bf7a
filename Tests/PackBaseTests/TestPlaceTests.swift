import Foundation
import TestSupport
import Testing

@Suite("The place for files of tests")
struct TestPlaceTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test("what a process that has ended left is removed, and nothing else")
  func sweep() throws {
    for name in ["packer-tests-ended", "packer-tests-living"] {
      try directory.write([], to: "\(name)/.lock")
      try directory.write([1], to: "\(name)/1/deep/file")
    }
    // Tests may take permissions away, and others may use the same names.
    try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: directory("packer-tests-ended/1/deep"))
    try directory.write([1], to: "packer-tests-without-a-lock/file")
    try directory.write([1], to: "something-else/.lock")
    let files = SystemFiles()
    let lock = try files.open(directory("packer-tests-living/.lock"), .read, in: nil)
    #expect(try files.tryLock(lock))
    TestPlace.sweep(directory.path)
    #expect(directory.names() == ["packer-tests-living", "packer-tests-without-a-lock", "something-else"])
    withExtendedLifetime(lock) {}
  }

  @Test("each path is new, and all are in one directory of this process")
  func paths() throws {
    let paths = try (0..<3).map { _ in try TestPlace.newPath() }
    #expect(Set(paths).count == 3)
    #expect(Set(paths.map { ($0 as NSString).deletingLastPathComponent }).count == 1)
    #expect(paths.allSatisfy { !FileManager.default.fileExists(atPath: $0) })
  }
}
