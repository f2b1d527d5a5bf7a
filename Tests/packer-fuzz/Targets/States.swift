import TestSupport

extension FuzzTarget {
  /// The records of a download journal. The input is a position in eight bytes, then records.
  static let journal = FuzzTarget(
    "journal", largestInput: 520, files: ["Sources/PackRuntime/Downloads/DownloadJournal.swift"],
    seeds: {
      let bodies: [[UInt8]] = [
        [1, 0, 0x32, 0, 0, 0, 0, 0, 0, 0, 0, 0], [5, 2, 0xE4, 0, 0, 1, 0, 0, 0, 0, 0, 0], [3, 9, 0x80, 4, 0xF7, 1, 0, 0, 0, 0, 0, 0],
        [6, 255, 100, 1, 0, 0, 0, 0, 0, 0, 0, 0],
      ]
      return bodies.enumerated().map { number, body in
        FuzzSeed("record-\(number)", [UInt8(number), 0, 0, 0, 0, 0, 0, 0] + body + [0, 0, 0, 0])
      }
    },
    run: { (bytes) throws(BrokenPromise) in
      var feed = ByteFeed(bytes)
      let first = feed.number(width: 8)
      var number: UInt64 = 0
      while !feed.isEmpty {
        let position = first &+ number
        var record = feed.piece(JournalRecord.size)
        record += [UInt8](repeating: 0, count: JournalRecord.size - record.count)
        // Also with a valid checksum: with random bytes it hardly ever is.
        for sum in [Array(record[12...]), checksum(Array(record[..<12]), position)] {
          let bytes = record[..<12] + sum
          guard let read = JournalRecord(Array(bytes).byteSpan, position: position) else { continue }
          let written = read.bytes(position: position)
          let again = JournalRecord(written.byteSpan, position: position)
          try hold(again == read, "a record differs after it was written and read")
          try hold(JournalRecord(written.byteSpan, position: position &+ 1) == nil, "a record is valid at another position")
        }
        number += 1
      }
    })

  /// Returns the FNV-1a checksum of position and bytes, as in a record of a download journal.
  private static func checksum(_ bytes: [UInt8], _ position: UInt64) -> [UInt8] {
    var all: [UInt8] = []
    all.append(littleEndian: position)
    var hash: UInt32 = 0x811c_9dc5
    for byte in all + bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
    var sum: [UInt8] = []
    sum.append(littleEndian: hash)
    return sum
  }

  /// Batches of requests, unchanged and with corrected digests.
  static let batch = FuzzTarget(
    "batch", largestInput: 4096, files: ["Sources/PackRuntime/Downloads/RequestBatch.swift"],
    seeds: {
      func requests(_ count: Int) -> [DownloadRequest] {
        (0..<count).map { (number: Int) -> DownloadRequest in
          let digest = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 32)
          let extensionID: String? = number % 2 == 0 ? nil : "extension-\(number)"
          return DownloadRequest(
            id: "file-\(number)", extensionID: extensionID, url: "https://cdn.example.com/\(number)", size: UInt64(number) * 1000 + 1,
            sha256: digest, priority: Double(number % 101) / 100, isEssential: number % 3 == 0)
        }
      }
      return try [1, 3, 20].map { count in
        FuzzSeed("\(count)-requests", try RequestBatch.encode(requests(count), group: "group", backend: CryptoBackends.standard))
      }
    },
    run: { (bytes) throws(BrokenPromise) in
      let backend = CryptoBackends.standard
      guard let size = try accepted({ () throws(PackError) in try RequestBatch.headSize(bytes.byteSpan) }) else { return }
      try hold(size <= 10_000, "a head of \(size) bytes would be read")
      guard size <= bytes.count else { return }
      if let head = try accepted({ () throws(PackError) in try RequestBatch.head(bytes.byteSpan.extracting(first: size), backend: backend) }
      ) {
        try check(bytes, head)
      }
      var mended = bytes
      let made = try required("digests") { () throws(PackError) in
        mended.replaceSubrange(32..<64, with: try Sealing.digest(Array(mended[size...])))
        mended.replaceSubrange(size - 32..<size, with: try Sealing.digest(Array(mended[..<(size - 32)])))
        return mended
      }
      if let head = try accepted({ () throws(PackError) in try RequestBatch.head(made.byteSpan.extracting(first: size), backend: backend) })
      {
        try check(made, head)
      }
    })

  private static func check(_ bytes: [UInt8], _ head: RequestBatch.Head) throws(BrokenPromise) {
    let backend = CryptoBackends.standard
    try hold(head.bodySize <= 2_000_000, "a body of \(head.bodySize) bytes would be read")
    guard
      let body = try accepted({ () throws(PackError) in
        try RequestBatch.Body(Array(bytes[head.size...]), digest: head.bodyDigest, backend: backend)
      })
    else { return }
    var requests: [DownloadRequest] = []
    for index in head.keys.indices {
      if let request = try accepted({ () throws(PackError) in try body.request(UInt16(index)) }) { requests.append(request) }
    }
    guard requests.count == head.keys.count else { return }
    guard let written = try accepted({ () throws(PackError) in try RequestBatch.encode(requests, group: head.group, backend: backend) })
    else {
      return
    }
    // A body has more than one valid form. Writing it again keeps the requests.
    let again = try required("reading what was written") { () throws(PackError) in
      let size = try RequestBatch.headSize(written.byteSpan)
      let head = try RequestBatch.head(written.byteSpan.extracting(first: size), backend: backend)
      let body = try RequestBatch.Body(Array(written[size...]), digest: head.bodyDigest, backend: backend)
      var again: [DownloadRequest] = []
      for index in requests.indices { again.append(try body.request(UInt16(index))) }
      return again
    }
    try hold(again == requests, "requests differ after they were written and read")
  }

  /// Records of deliveries, and names of downloads and of versions in a store.
  static let status = FuzzTarget(
    "status", largestInput: 1100,
    files: [
      "Sources/PackDelivery/Status/PackStatus+Text.swift", "Sources/PackDelivery/Status/DownloadIdentifier.swift",
      "Sources/PackStore/Values/ItemName.swift",
      "Sources/PackFormat/PackName.swift", "Sources/PackFormat/PackName+File.swift",
    ],
    seeds: {
      let bytes = PackBytes(version: 7, size: 1000, sha256: Array(0..<32))
      let new = PackStatus(id: "Core", bytes: bytes, at: 1_790_000_000)
      var seeds = [FuzzSeed("new", new.record)]
      for event in [PackEvent.scheduled(isEssential: true), .found(.packed), .asked, .unlisted] {
        if case .became(let next) = new.after(event, at: 1_790_000_060) { seeds.append(FuzzSeed("\(event.kind)", next.record)) }
      }
      seeds.append(FuzzSeed("identifier", DownloadIdentifier(id: "Core", bytes: bytes).description))
      seeds.append(FuzzSeed("item", DownloadIdentifier(id: "core", bytes: bytes).description + ".pack"))
      return seeds
    },
    run: { (bytes) throws(BrokenPromise) in
      let text = String(decoding: bytes, as: UTF8.self)
      if let identifier = DownloadIdentifier(text) {
        try hold(identifier.description.utf8.elementsEqual(bytes), "an identifier is written differently than it was read")
        try hold(try isAccepted { () throws(PackError) in _ = try PackName(identifier.id) }, "an identifier names no pack")
      }
      if let item = ItemName(text) {
        try hold(item.text.utf8.elementsEqual(bytes), "a name is written differently than it was read")
      }
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      guard lines.count > 1, lines[1].hasPrefix("pack ") else { return }
      let id = String(lines[1].dropFirst(5))
      // Also with a valid checksum: it protects against accidents, not against intent.
      let start = bytes.lastIndex(of: 0x0A).flatMap { bytes[..<$0].lastIndex(of: 0x0A) }.map { $0 + 1 } ?? bytes.count
      let mended = Array(bytes[..<start]) + Array("check \(fnv64(bytes[..<start]))\n".utf8)
      for record in [bytes, mended] {
        guard let status = try accepted({ () throws(PackError) in try PackStatus(reading: record, of: id) }) else { continue }
        try hold(status.record == record, "a record is written differently than it was read")
        try hold(record.count <= PackStatus.largestSize, "a record is too large to be read again")
      }
    })

  private static func fnv64(_ bytes: ArraySlice<UInt8>) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  /// The records of a store about packs and manifests.
  static let store = FuzzTarget(
    "store", largestInput: 8192,
    files: [
      "Sources/PackStore/Records/PackRecord+Text.swift", "Sources/PackStore/Records/StoreManifests.swift",
      "Sources/PackStore/Records/StorePreservation.swift",
    ],
    seeds: {
      let digest = [UInt8](0..<32).hex
      let other = [UInt8](32..<64).hex
      let nonce = [UInt8](0..<16).hex
      let content = #"{"mode":"packed","proven":1,"sha256":"\#(digest)","size":1000,"sizeOnDevice":4096,"version":1}"#
      let tree = #"{"contentRoot":"\#(digest)","mode":"unpacked","proven":0,"sha256":"\#(other)","size":5,"sizeOnDevice":8192,"version":2}"#
      let rest =
        #""id":"core","lastUse":1790000000,"preservation":5,"purged":{"sha256":"\#(digest)","version":1},"schema":"packer-store-state/1""#
      let current = #""current":{"sha256":"\#(digest)","version":1},"delivery":"prefetch""#
      let trial = #""trial":{"nonce":"\#(nonce)","session":"s1","sha256":"\#(other)","starts":2,"version":2}"#
      let failures = #""failures":[{"reason":"fell","sha256":"\#(digest)","version":3}]"#
      return [
        FuzzSeed("record", #"{"confirmed":"\#(nonce)","contents":[\#(content),\#(tree)],\#(current),\#(failures),\#(rest),\#(trial)}"#),
        FuzzSeed("empty", #"{"contents":[],"failures":[],"id":"core","lastUse":0,"schema":"packer-store-state/1"}"#),
        FuzzSeed(
          "memory",
          ManifestMemory.Accepted(
            version: 3, signedDigest: Array(0..<32), signers: ["e545120e613dd715"], packVersions: ["core": 7, "other": 1]
          ).text),
        FuzzSeed(
          "memory-installed",
          ManifestMemory.Accepted(
            version: 3, signedDigest: Array(0..<32), signers: ["e545120e613dd715"], packVersions: ["core": 7],
            installed: [ManifestMemory.Installed(signers: ["e545120e613dd715"], versions: ["level": 2])]
          ).text),
        FuzzSeed("preservation", StorePreservation.text(["level-1": 0, "level-2": 1_000_000])),
      ]
    },
    run: { (bytes) throws(BrokenPromise) in
      if let record = try accepted({ () throws(PackError) in try PackRecord(parsing: bytes, id: "core") }) {
        let written = record.text
        let again = try required("reading what was written") { () throws(PackError) in try PackRecord(parsing: written, id: "core") }
        try hold(again == record, "a record differs after it was written and read")
        try hold(written.count != bytes.count || written == bytes, "a record has two forms of the same length")
      }
      if let memory = try accepted({ () throws(PackError) in try ManifestMemory.Accepted(parsing: bytes) }) {
        let written = memory.text
        let again = try required("reading what was written") { () throws(PackError) in try ManifestMemory.Accepted(parsing: written) }
        try hold(again == memory, "a memory differs after it was written and read")
        try hold(written == bytes, "a memory is written differently than it was read")
      }
      if let priorities = try accepted({ () throws(PackError) in try StorePreservation.parse(bytes) }) {
        try hold(StorePreservation.text(priorities) == bytes, "priorities are written differently than they were read")
        try hold(priorities.values.allSatisfy { $0 <= 1_000_000 }, "a preservation is above the maximum")
      }
    })

  /// The state machine of deliveries, and plans. The bytes stand for events, plans and elapsed time.
  static let delivery = FuzzTarget(
    "delivery", largestInput: 512,
    files: [
      "Sources/PackDelivery/Status/PackStatus.swift", "Sources/PackDelivery/Status/DeliveryEdge.swift",
      "Sources/PackDelivery/Plan/Planning.swift",
      "Sources/PackDelivery/Status/DeliveryState.swift", "Sources/PackDelivery/Status/DeliveryPolicy.swift",
    ],
    seeds: {
      [
        FuzzSeed("plan", [0xFF, 0, 0xFF, 1, 0xFF, 2, 0xFF, 3]),
        FuzzSeed("walk", [0, 2, 1, 0, 3, 1, 0, 5, 1, 0, 11, 1, 0, 12, 0, 0xFF, 1]),
        FuzzSeed("failures", [1, 2, 1, 1, 8, 3, 1, 20, 0, 0xFF, 3, 1, 2, 0, 1, 8, 9, 0xFE, 200]),
        FuzzSeed("essential", [0xFF, 0, 2, 2, 1, 2, 6, 0, 2, 7, 7, 0xFF, 0xF3]),
        FuzzSeed("obsolete", [3, 18, 0, 3, 16, 0, 3, 0, 1, 3, 19, 0, 0xFD, 5, 0xFF, 2]),
        FuzzSeed("catalogue", [0xF8, 1, 0xFF, 0x0A, 0xE1, 2, 0, 0xFF, 0x0A, 0xF8, 3, 0xFF, 0x0A, 0xFC, 2, 0xF8, 1, 0xFF, 0x4A, 0xF8, 3]),
      ]
    },
    run: { (bytes) throws(BrokenPromise) in
      var world = DeliveryRun()
      var feed = ByteFeed(bytes)
      while !feed.isEmpty { try world.step(&feed) }
      try world.settle()
    })
}
