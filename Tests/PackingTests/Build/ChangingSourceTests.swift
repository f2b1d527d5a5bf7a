import Foundation
import TestSupport
import Testing

/// A tree that another process changes while it is packed. The wrapped files make the change at a certain call.
@Suite("A source that changes while it is packed", .bounded)
struct ChangingSourceTests {
  /// A change that another process makes to a file.
  enum Change: String, CaseIterable, Sendable {
    case rewritten, truncated, longer, deleted, replaced, touched, becomesDirectory

    func apply(to path: String) {
      let manager = FileManager.default
      switch self {
      case .rewritten: overwrite(path, [UInt8](repeating: 9, count: (try? Data(contentsOf: URL(fileURLWithPath: path)).count) ?? 0))
      case .truncated: truncate(path, 3)
      case .longer: overwrite(path, [UInt8](repeating: 9, count: 1 << 20))
      case .deleted: try? manager.removeItem(atPath: path)
      case .replaced:
        try? manager.copyItem(atPath: path, toPath: path + "~")
        try? manager.removeItem(atPath: path)
        try? manager.moveItem(atPath: path + "~", toPath: path)
      case .touched: try? manager.setAttributes([.modificationDate: Date(timeIntervalSince1970: 5)], ofItemAtPath: path)
      case .becomesDirectory:
        try? manager.removeItem(atPath: path)
        try? manager.createDirectory(atPath: path, withIntermediateDirectories: false)
      }
    }
  }

  static let sizes = [1, 5000, 65_536, 400_000]

  @Test("a file that changes after the scan is named", arguments: Change.allCases, sizes)
  func beforeOpening(_ change: Change, _ size: Int) async throws {
    let project = try SampleProject()
    try project.add("steady.bin", [4, 5])
    try project.add("sub/victim.bin", [UInt8](repeating: 1, count: size))
    let path = project.directory("tree/sub/victim.bin")
    let trigger = Trigger()
    let files = FaultyFiles { call in
      if call.operation == .open, call.name.hasSuffix("victim.bin") { trigger.fire { change.apply(to: path) } }
      return nil
    }
    let error = await project.refusal { $0.files = files }
    #expect(trigger.fired)
    #expect(error?.code == .sourceChanged)
    #expect(error?.message.contains("sub/victim.bin") == true)
  }

  @Test("a file that changes while its parts are read is named, whatever the number of threads", arguments: Change.allCases, [1, 2, 5])
  func whileReading(_ change: Change, _ jobs: Int) async throws {
    for moment in [0, 1, 3, 5] {
      let project = try SampleProject()
      try project.add("victim.bin", [UInt8](repeating: 1, count: 700_000))
      let path = project.directory("tree/victim.bin")
      let reads = Tally()
      let trigger = Trigger()
      let files = FaultyFiles { call in
        if call.operation == .read, reads.next() == moment { trigger.fire { change.apply(to: path) } }
        return nil
      }
      let error = await project.refusal {
        $0.files = files
        $0.jobs = jobs
      }
      #expect(trigger.fired)
      #expect(error?.code == .sourceChanged, "at read \(moment)")
      #expect(error?.message.contains("victim.bin") == true)
    }
  }

  @Test("a part of a large file that cannot be read is reported, and no thread waits for it", arguments: [0, 1, 2, 4, 9], [1, 2, 4])
  func unreadablePart(_ part: Int, _ jobs: Int) async throws {
    let project = try SampleProject()
    try project.add("a.bin", [UInt8](repeating: 1, count: 700_000))
    let reads = Tally()
    let files = FaultyFiles { call in
      call.operation == .read && reads.next() == part ? .failure(.inputOutput) : nil
    }
    let error = await project.refusal {
      $0.files = files
      $0.jobs = jobs
    }
    #expect(error?.code == .cannotRead)
    #expect(error?.message.contains("a.bin") == true)
  }

  @Test("a large file that one thread can no longer open is reported, and no thread waits for it", arguments: [1, 2, 3])
  func unopenablePart(_ opening: Int) async throws {
    let project = try SampleProject()
    try project.add("a.bin", [UInt8](repeating: 1, count: 1_000_000))
    let opened = Tally()
    let files = FaultyFiles { call in
      call.operation == .open && call.name.hasSuffix("a.bin") && opened.next() == opening ? .failure(FileFailure(number: EMFILE)) : nil
    }
    do throws(PackError) {
      try await project.pack {
        $0.files = files
        $0.jobs = 4
      }
      // One thread may have been fast enough to read the whole file.
      #expect(opened.value <= opening)
    } catch {
      #expect(error.code == .cannotRead && error.message.contains("a.bin"))
    }
  }

  @Test("a file that changes between the search for duplicates and its packing is named", arguments: [9000, 100_000])
  func afterSearch(_ size: Int) async throws {
    let project = try SampleProject()
    try project.add("one.bin", [UInt8](repeating: 1, count: size))
    try project.add("two.bin", [UInt8](repeating: 1, count: size))
    let path = project.directory("tree/one.bin")
    let openings = Tally()
    let trigger = Trigger()
    // Large files are opened for a first comparison, then for their digest, then for packing.
    let last = size < 16_384 ? 1 : 2
    let files = FaultyFiles { call in
      if call.operation == .open, call.name.hasSuffix("one.bin"), openings.next() == last {
        trigger.fire { overwrite(path, [UInt8](repeating: 2, count: size)) }
      }
      return nil
    }
    let error = await project.refusal { $0.files = files }
    #expect(trigger.fired)
    #expect(error?.code == .sourceChanged && error?.message.contains("one.bin") == true)
  }

  @Test("if several files change, each is named")
  func several() async throws {
    let project = try SampleProject()
    for number in 0..<5 { try project.add("f\(number).bin", [UInt8](repeating: UInt8(number), count: 100 + number)) }
    let trigger = Trigger()
    let directory = project.directory
    let files = FaultyFiles { call in
      if call.operation == .open, call.name.hasSuffix("f0.bin") {
        trigger.fire { for number in [1, 3, 4] { overwrite(directory("tree/f\(number).bin"), [0]) } }
      }
      return nil
    }
    let error = await project.refusal {
      $0.files = files
      $0.jobs = 1
    }
    #expect(error?.code == .sourceChanged)
    #expect(error?.details.count == 3)
  }
}
