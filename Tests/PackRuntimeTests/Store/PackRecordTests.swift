import PackFormat
import PackManifest
import TestSupport
import Testing

@testable import PackStore

@Suite("The record of a pack", .bounded)
struct PackRecordTests {
  private func bytes(_ version: UInt64, _ fill: UInt8 = 0) -> PackRecord.Bytes {
    PackRecord.Bytes(version: version, sha256: [UInt8](repeating: fill, count: 32))
  }

  private func content(_ version: UInt64, isProven: Bool = false) -> PackRecord.Content {
    PackRecord.Content(bytes: bytes(version), mode: .packed, size: 1, sizeOnDevice: 4096, contentRoot: nil, isProven: isProven)
  }

  /// A record with these versions.
  private func record(_ versions: UInt64..., proven: Set<UInt64> = [], current: UInt64? = nil) -> PackRecord {
    var record = PackRecord(id: "core")
    record.contents = versions.map { content($0, isProven: proven.contains($0)) }
    record.current = current.map { bytes($0) }
    return record
  }

  @Test("of too many failures, the oldest ones are forgotten, and a repeated one counts as new")
  func failures() {
    var record = PackRecord(id: "core")
    for version in 1...UInt64(PackRecord.failureLimit) { record.fail(bytes(version), reason: "crash") }
    record.fail(bytes(1), reason: "again")
    record.fail(bytes(100), reason: "crash")
    #expect(record.failures.count == PackRecord.failureLimit)
    #expect(record.hasFailed(bytes(100)) && record.hasFailed(bytes(1)))
    #expect(!record.hasFailed(bytes(2)) && record.hasFailed(bytes(3)))
  }

  @Test("a version that waits is surplus if it is older than the current one, or not the newest")
  func surplus() {
    func gone(_ record: PackRecord, keeping count: Int = 2, before successor: UInt64? = nil) -> [UInt64] {
      record.surplus(keeping: count, before: successor.map { bytes($0) }).map(\.bytes.version).sorted()
    }
    #expect(gone(record(1, 2, 3, proven: [1, 3], current: 3)) == [2])
    #expect(gone(record(1, 3, 4, proven: [1, 3], current: 3)) == [])
    #expect(gone(record(3, 4, 5, proven: [3], current: 3)) == [4])
    #expect(gone(record(3, 4, proven: [3], current: 3), before: 5) == [4])
    #expect(gone(record(1, 2, 3, proven: [1, 2, 3], current: 3)) == [1])
    #expect(gone(record(1, 2, 3, proven: [1, 2, 3], current: 3), keeping: 3) == [])
  }

  @Test("a record that is not consistent is damaged")
  func inconsistent() async throws {
    let trial = PackRecord.Trial(bytes: bytes(2), nonce: [UInt8](repeating: 1, count: 16), session: "one", starts: 1)
    var sound = record(1, 2, proven: [1], current: 1)
    sound.trial = trial
    #expect(try PackRecord(parsing: sound.text, id: "core") == sound)

    var faults: [String: PackRecord] = [:]
    func add(_ name: String, _ change: (inout PackRecord) -> Void) {
      var record = sound
      change(&record)
      faults[name] = record
    }
    add("a current version that is not listed") { $0.current = bytes(3) }
    add("a current version with other bytes") { $0.current = bytes(1, 1) }
    add("a trial that is not listed") { $0.contents.removeLast() }
    add("a trial of the current version") { $0.current = bytes(2) }
    add("a trial that failed") { $0.failures = [.init(bytes: bytes(2), reason: "crash")] }
    add("a version twice") { $0.contents.append(content(1)) }
    add("a short content root") { $0.contents[0].contentRoot = [UInt8](repeating: 2, count: 31) }
    add("an unpacked version without a content root") { $0.contents[0].mode = .unpacked }
    add("too many versions") { for version in 3...UInt64(PackRecord.contentLimit + 1) { $0.contents.append(content(version)) } }
    add("too many failures") {
      for version in 3...19 as ClosedRange<UInt64> { $0.failures.append(.init(bytes: bytes(version), reason: "x")) }
    }
    add("a preservation above 1") { $0.preservation = 1_000_001 }
    for (name, record) in faults {
      let error = await failure { () throws(PackError) in _ = try PackRecord(parsing: record.text, id: "core") }
      #expect(error?.code == .damagedStore, "\(name)")
    }
    let other = await failure { () throws(PackError) in _ = try PackRecord(parsing: sound.text, id: "other") }
    #expect(other?.code == .damagedStore)
  }
}
