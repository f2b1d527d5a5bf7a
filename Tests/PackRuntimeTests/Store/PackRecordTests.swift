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

  /// A record in which the store made the file of version 2 by a delta.
  private func remade() -> PackRecord {
    var record = record(1, 2, proven: [1], current: 1)
    for index in record.contents.indices { record.contents[index].contentRoot = [UInt8](repeating: UInt8(index), count: 32) }
    record.contents[1].rewritten = [UInt8](repeating: 5, count: 32)
    return record
  }

  @Test("a record with a file that was made by a delta is not consistent without its content root, or if the version is unpacked")
  func inconsistentFile() async throws {
    var faults: [String: PackRecord] = ["no content root": remade(), "an unpacked version": remade()]
    faults["no content root"]?.contents[1].contentRoot = nil
    faults["an unpacked version"]?.contents[1].mode = .unpacked
    for (name, record) in faults {
      let error = await failure { () throws(PackError) in _ = try PackRecord(parsing: record.text, id: "core") }
      #expect(error?.code == .damagedStore, "\(name)")
    }
    var short = String(decoding: remade().text, as: UTF8.self)
    short.replace(String(repeating: "05", count: 32), with: String(repeating: "05", count: 31))
    let error = await failure { () throws(PackError) in _ = try PackRecord(parsing: Array(short.utf8), id: "core") }
    #expect(error?.code == .damagedStore)
  }

  @Test(
    "a name that no version can have is not read",
    arguments: [
      "core@3-0000000000000000-0505050505050505", "core@3-0000000000000000.delta", "core@3-0000000000000000-0505050505050505.delta",
      "core@3-0000000000000000-0505.pack", "core@3-0000000000000000-0505050505050505-0505050505050505.pack", "core@3.pack",
      "core@03-0000000000000000.pack", "core@3-000000000000000G.pack",
    ])
  func names(_ text: String) {
    #expect(ItemName(text) == nil)
  }

  @Test("a file that was made by a delta has a name with the start of its own digest")
  func rewritten() throws {
    let record = remade()
    #expect(try PackRecord(parsing: record.text, id: "core") == record)
    #expect(record.itemNames == ["core@1-0000000000000000.pack", "core@2-0000000000000000-0505050505050505.pack"])
    let name = try #require(ItemName(record.itemName(record.contents[1])))
    #expect(name.isRewritten && name.isOwn([UInt8](repeating: 5, count: 32)) && !name.isOwn([UInt8](repeating: 6, count: 32)))
    #expect(ItemName(record.itemName(record.contents[0]))?.isRewritten == false)
    for item in record.itemNames { #expect(ItemName(item)?.text == item) }
  }

  @Test("a version with files of one that is not listed, or of its own, is damaged")
  func inconsistentLinks() async throws {
    for other in [bytes(7), bytes(1)] {
      var record = remade()
      record.contents[0].links = [.init(bytes: other, size: 1)]
      let error = await failure { () throws(PackError) in _ = try PackRecord(parsing: record.text, id: "core") }
      #expect(error?.code == .damagedStore, "\(other.version)")
    }
  }

  @Test("files that two versions share count for the one that stays")
  func sharedFiles() throws {
    var record = record(1, 2, proven: [1], current: 1)
    for index in record.contents.indices {
      record.contents[index].mode = .unpacked
      record.contents[index].contentRoot = [UInt8](repeating: UInt8(index), count: 32)
    }
    record.contents[1].links = [.init(bytes: bytes(1), size: 8192)]
    #expect(try PackRecord(parsing: record.text, id: "core") == record)
    #expect(record.sharedSize(record.contents[0]) == 8192 && record.sharedSize(record.contents[1]) == 8192)
    #expect(record.sharedSize(record.contents[1], without: [bytes(1)]) == 0)
    record.forget(bytes(1))
    #expect(record.contents.map(\.sizeOnDevice) == [4096 + 8192] && record.contents[0].links.isEmpty)
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
