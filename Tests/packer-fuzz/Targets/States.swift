import TestSupport

extension FuzzTarget {
  /// Records of deliveries, and names of downloads and of versions in a store.
  static let status = FuzzTarget(
    "status", largestInput: 1100,
    files: [
      "Sources/PackDelivery/Status/PackStatus+Text.swift", "Sources/PackDelivery/Status/DownloadIdentifier.swift",
      "Sources/PackManifest/Installed/ItemName.swift",
      "Sources/PackFormat/PackName.swift", "Sources/PackFormat/PackName+File.swift",
    ],
    seeds: {
      let bytes = PackBytes(version: 7, size: 1000, sha256: Array(0..<32))
      let new = PackStatus(id: "Core", bytes: bytes, at: 1_790_000_000)
      var seeds = [FuzzSeed("new", new.record)]
      for event in [PackEvent.scheduled(isEssential: true), .asked, .cancelled] {
        if let next = new.after(event, at: 1_790_000_060) { seeds.append(FuzzSeed("\(event.kind)", next.record)) }
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
      "Sources/PackManifest/Installed/PackRecord+Text.swift", "Sources/PackStore/Records/StoreManifests.swift",
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
        FuzzSeed("failures", [1, 2, 1, 1, 8, 3, 1, 12, 0, 0xFF, 3, 1, 2, 0, 1, 8, 9, 0xFE, 200]),
        FuzzSeed("essential", [0xFF, 0, 2, 2, 1, 2, 6, 0, 2, 7, 7, 0xFF, 0xF3]),
        FuzzSeed("arrived", [3, 2, 0, 3, 5, 0, 3, 11, 0, 3, 0, 1, 0xFA, 3, 0, 0xFD, 5, 0xFF, 0x42]),
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
