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

  /// A record in which version 2 is read over version 1, and version 3 over that.
  private func layered() -> PackRecord {
    var record = record(1, 2, 3, proven: [1], current: 1)
    for index in record.contents.indices { record.contents[index].contentRoot = [UInt8](repeating: UInt8(index), count: 32) }
    for (index, layers) in [(1, 1), (2, 2)] {
      record.contents[index].layers = (0..<layers).map { .init(sha256: [UInt8](repeating: UInt8(9 + $0), count: 32), size: 10) }
      record.contents[index].bases = [bytes(UInt64(index))]
    }
    return record
  }

  @Test("a version that is read over others names all of its files, and keeps them")
  func deltas() throws {
    let record = layered()
    #expect(try PackRecord(parsing: record.text, id: "core") == record)
    #expect(record.depth(record.contents[2]) == 3)
    #expect(record.ownItems(record.contents[2]).count == 2 && record.allItems(record.contents[2]).count == 4)
    for item in record.itemNames { #expect(ItemName(item)?.text == item) }
    #expect(record.versions(over: bytes(1)).map(\.bytes.version).sorted() == [2, 3])
    // Version 2 does not wait to be activated any more, but version 3 needs it.
    #expect(record.surplus(keeping: 1).isEmpty)
    var failed = record
    failed.fail(bytes(3), reason: "crash")
    #expect(failed.surplus(keeping: 2).map(\.bytes.version) == [3])
    failed.fail(bytes(2), reason: "crash")
    #expect(failed.surplus(keeping: 2).map(\.bytes.version) == [3, 2])
  }

  @Test("a version that the store rewrote has a file of its own, and is read over nothing")
  func rewritten() throws {
    var record = layered()
    let before = record.itemNames
    (record.contents[2].layers, record.contents[2].bases, record.contents[2].rewritten) = ([], [], [UInt8](repeating: 5, count: 32))
    #expect(try PackRecord(parsing: record.text, id: "core") == record)
    #expect(record.depth(record.contents[2]) == 0 && record.ownItems(record.contents[2]).count == 1)
    #expect(record.allItems(record.contents[2]) == record.ownItems(record.contents[2]))
    let name = record.itemName(record.contents[2])
    #expect(!before.contains(name) && name == "core@3-0000000000000000-0505050505050505.pack")
    #expect(ItemName(name)?.text == name && ItemName(name)?.origin == .rewritten)
    #expect(ItemName("core@3-0000000000000000-0505050505050505") == nil && ItemName("core@3-0000000000000000.delta") == nil)
    #expect(record.versions(over: bytes(2)).isEmpty)
    for (deltas, packs, version) in [(0, 1, 1), (1, 1, 2), (0, 1, 3)] as [(UInt64, UInt64, Int)] {
      let sizes = record.sizes(record.contents[version - 1])
      #expect(sizes.deltas == deltas && sizes.packs == packs)
    }
    #expect(layered().sizes(layered().contents[2]).deltas == 2)
    // What two ways lead to counts once.
    var twice = layered()
    twice.contents[2].bases.append(bytes(1))
    let sizes = twice.sizes(twice.contents[2])
    #expect(sizes.deltas == 2 && sizes.packs == 1)
  }

  @Test("a record with deltas that is not consistent is damaged")
  func inconsistentDeltas() async throws {
    var faults: [String: PackRecord] = [:]
    func add(_ name: String, _ change: (inout PackRecord) -> Void) {
      var record = layered()
      change(&record)
      faults[name] = record
    }
    add("deltas without a base") { $0.contents[1].bases = [] }
    add("a base without deltas") { $0.contents[1].layers = [] }
    add("a base that is not listed") { $0.contents[1].bases = [bytes(7)] }
    add("an unpacked base") { $0.contents[0].mode = .unpacked }
    add("a file made of deltas that are there") { $0.contents[1].rewritten = [UInt8](repeating: 5, count: 32) }
    add("an unpacked version with a file") {
      ($0.contents[2].layers, $0.contents[2].bases, $0.contents[2].mode) = ([], [], .unpacked)
      $0.contents[2].rewritten = [UInt8](repeating: 5, count: 32)
    }
    add("a file made of deltas without a content root") {
      ($0.contents[2].layers, $0.contents[2].bases, $0.contents[2].contentRoot) = ([], [], nil)
      $0.contents[2].rewritten = [UInt8](repeating: 5, count: 32)
    }
    add("deltas of an unpacked version") { $0.contents[2].mode = .unpacked }
    add("versions over each other in a circle") {
      $0.contents[0].layers = $0.contents[1].layers
      $0.contents[0].bases = [bytes(2)]
    }
    add("four deltas") { $0.contents[1].layers.append(.init(sha256: [UInt8](repeating: 7, count: 32), size: 1)) }
    add("five bases") { $0.contents[1].bases = Array(repeating: bytes(1), count: 5) }
    add("no content root") { $0.contents[2].contentRoot = nil }
    add("the same delta twice") { $0.contents[2].layers[1] = $0.contents[2].layers[0] }
    add("files of a version that is not listed") { $0.contents[0].links = [.init(bytes: bytes(7), size: 1)] }
    add("files of its own") { $0.contents[0].links = [.init(bytes: bytes(1), size: 1)] }
    for (name, record) in faults {
      let error = await failure { () throws(PackError) in _ = try PackRecord(parsing: record.text, id: "core") }
      #expect(error?.code == .damagedStore, "\(name)")
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
