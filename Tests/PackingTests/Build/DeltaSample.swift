import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate
@testable import PackReading

/// A directory with an old pack and a new one, and what makes and reads a delta between them.
struct DeltaSample {
  let directory: TemporaryDirectory
  let old: Pack
  let new: Pack
  let oldTree: SampleTree
  let newTree: SampleTree

  init(_ old: SampleTree, _ new: SampleTree, names: (old: String, new: String) = ("sample", "sample")) async throws {
    directory = try TemporaryDirectory()
    (oldTree, newTree) = (old, new)
    self.old = try await Self.pack(old, "old", names.old, in: directory)
    self.new = try await Self.pack(new, "new", names.new, in: directory)
  }

  private static func pack(_ tree: SampleTree, _ file: String, _ name: String, in directory: TemporaryDirectory) async throws -> Pack {
    try tree.write(to: "\(file).source", in: directory)
    var job = PackJob(source: directory("\(file).source"), output: directory("\(file).pack"), name: try PackName(name))
    job.packVersion = file == "old" ? 1 : 2
    job.settings.segmentSize = 4096
    job.settings.frameSize = 65_536
    job.jobs = 2
    job.settings.allowsUnportablePaths = true
    job.files = FaultyFiles()
    _ = try await job.run(key: try sampleKey())
    return try Pack.open(directory("\(file).pack"), key: try sampleKey())
  }

  func job(_ change: (inout DeltaJob) -> Void = { _ in }) -> DeltaJob {
    var job = DeltaJob(from: old, to: new, output: directory("out.delta"))
    job.jobs = 2
    job.files = FaultyFiles()
    change(&job)
    return job
  }

  @discardableResult
  func make(_ change: (inout DeltaJob) -> Void = { _ in }) async throws(PackError) -> DeltaReport {
    try await job(change).run(key: try sampleKey())
  }

  /// Returns the error that making a delta fails with. Checks that an earlier output is unchanged and that nothing was left behind.
  func refusal(
    key: borrowing PackKey, _ change: (inout DeltaJob) -> Void = { _ in }, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> PackError? {
    try directory.write(Array("the earlier delta".utf8), to: "out.delta")
    let names = directory.names()
    do throws(PackError) {
      _ = try await job(change).run(key: key)
    } catch {
      #expect(made == Array("the earlier delta".utf8), "the output changed", sourceLocation: sourceLocation)
      #expect(directory.names() == names, "something was left behind", sourceLocation: sourceLocation)
      return error
    }
    Issue.record("nothing was refused", sourceLocation: sourceLocation)
    return nil
  }

  /// The bytes of the delta.
  var made: [UInt8] { directory.bytes(of: "out.delta") ?? [] }

  /// Makes a delta and compares the tree that it gives with the new tree.
  @discardableResult
  func check(_ change: (inout DeltaJob) -> Void = { _ in }, sourceLocation: SourceLocation = #_sourceLocation) async throws -> DeltaReport {
    let report = try await make(change)
    #expect(report.deltaSize == UInt64(made.count), sourceLocation: sourceLocation)
    let tree = try await read()
    let isSame = tree == newTree
    #expect(isSame, "\(tree) instead of \(newTree)", sourceLocation: sourceLocation)
    return report
  }

  /// Applies the delta to the old pack, which checks the content root and all digests, and reads the tree.
  func read() async throws -> SampleTree {
    let delta = try DeltaPack.open(directory("out.delta"), key: try sampleKey())
    #expect(delta.source.header.packVersion == 2 && delta.source.header.packID == new.header.packID)
    #expect(delta.head.target == new.contentRoot)
    let place = "unpacked-\(UUID().uuidString)"
    _ = try await PackUnpacking.run(delta, over: [old], to: directory(place), allowsUnportablePaths: true, jobs: 3)
    return try SampleTree(reading: directory(place))
  }
}
