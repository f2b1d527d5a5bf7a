import Foundation
import TestSupport
import Testing

@testable import PackBase
@testable import PackBuild
@testable import PackGate

/// A directory with a source tree, and helpers to pack it.
///
/// Frames and segments have their smallest sizes, so that small trees have many.
struct SampleProject {
  let directory: TemporaryDirectory
  var source = "tree"
  var output = "out.pack"

  init() throws {
    directory = try TemporaryDirectory()
    try directory.makeDirectory(source)
  }

  /// Makes a file in the source tree.
  func add(_ path: String, _ bytes: [UInt8] = [1], mode: Int = 0o644) throws {
    try directory.write(bytes, to: "\(source)/\(path)", mode: mode)
  }

  func link(_ path: String, to target: String) throws {
    try FileManager.default.createSymbolicLink(atPath: directory("\(source)/\(path)"), withDestinationPath: target)
  }

  func job(_ change: (inout PackJob) -> Void = { _ in }) throws -> PackJob {
    var job = PackJob(source: directory(source), output: directory(output), name: try PackName("sample"))
    job.settings.segmentSize = 4096
    job.settings.frameSize = 65_536
    job.jobs = 2
    job.files = FaultyFiles()
    change(&job)
    return job
  }

  @discardableResult
  func pack(_ change: (inout PackJob) -> Void = { _ in }) async throws(PackError) -> PackReport {
    guard let job = try? job(change) else { throw PackError(.internalError, "no job") }
    return try await job.run(key: try sampleKey())
  }

  /// Returns the error that packing fails with. Checks that the output is unchanged and that nothing else was left behind.
  func refusal(_ change: (inout PackJob) -> Void = { _ in }, sourceLocation: SourceLocation = #_sourceLocation) async -> PackError? {
    let before = directory.bytes(of: output)
    let names = directory.names()
    do throws(PackError) {
      _ = try await pack(change)
    } catch {
      #expect(directory.bytes(of: output) == before, "the output changed", sourceLocation: sourceLocation)
      #expect(directory.names() == names, "something was left behind", sourceLocation: sourceLocation)
      return error
    }
    Issue.record("nothing was refused", sourceLocation: sourceLocation)
    return nil
  }

  var packed: [UInt8] { directory.bytes(of: output) ?? [] }

  func open() throws(PackError) -> Pack {
    try Pack.open(directory(output), key: try sampleKey())
  }

  /// Unpacks the output and reads the tree.
  func unpacked() async throws -> SampleTree {
    let place = "unpacked-\(UUID().uuidString)"
    let pack = try Pack(
      directory(output), key: try sampleKey(), files: FaultyFiles(), backend: CryptoBackends.standard)
    try await pack.unpack(to: directory(place), jobs: 3)
    return try SampleTree(reading: directory(place))
  }

  func verify(against tree: String? = nil, jobs: Int = 2) async throws(PackError) -> VerificationReport {
    try await PackVerification.run(
      directory(output), key: try sampleKey(), against: tree.map { directory($0) }, jobs: jobs)
  }

}

/// An action that runs once, at a certain call of a test's wrapped files.
final class Trigger: Sendable {
  private let hasFired = Monitor(false)

  func fire(_ body: () -> Void) {
    let isFirst = hasFired.withLock { fired in
      defer { fired = true }
      return !fired
    }
    if isFirst { body() }
  }

  var fired: Bool { hasFired.withLock { $0 } }
}

/// A counter that several threads share.
final class Tally: Sendable {
  private let count = Monitor(0)

  /// Returns the number of this call, starting from 0.
  func next() -> Int {
    count.withLock { count in
      defer { count += 1 }
      return count
    }
  }

  var value: Int { count.withLock { $0 } }
}

func overwrite(_ path: String, _ bytes: [UInt8]) {
  guard let file = FileHandle(forUpdatingAtPath: path) else { return }
  file.truncateFile(atOffset: 0)
  file.write(Data(bytes))
  try? file.close()
}

/// The key 00…1f.
func sampleKey() throws(PackError) -> PackKey {
  let bytes = (0..<32).map { UInt8($0) }
  return try PackKey(bytes: bytes.byteSpan)
}
