import PackCrypto
import PackDelivery
import PackFormat
import PackManifest
import TestSupport
import Testing

#if os(Linux)
  import Foundation

  @Suite("The cost of planning in an extension", .serialized, .bounded)
  struct DeliveryCostTests {
    /// Returns a manifest of the maximum size: 2000 packs and 1 MiB.
    private static func largest() throws(PackError) -> [UInt8] {
      func document(_ filling: Int) throws(PackError) -> [UInt8] {
        let packs = (0..<2000).map { number in
          var pack = offer("Level-of-the-game-\(number)", 12, size: 1_000_000, number % 10 == 0 ? .essential : .prefetch, .unpacked)
          pack.name = "Level \(number)"
          pack.tags = ["level", "world-\(number / 10)"]
          pack.description = String(repeating: "d", count: filling)
          return pack
        }
        let signed = try manifest(packs).signedBytes()
        let seed = [UInt8](repeating: 1, count: 32)
        let key = try SigningKey(seed: SecretBytes(copying: seed.byteSpan))
        return try SignedManifest(signed: signed, signatures: [SignedManifest.signature(of: signed, by: key)]).bytes
      }
      // An empty description is not written.
      let short = try document(1).count
      return try document(1 + (Manifest.largestSize - short) / 2000)
    }

    @Test(
      "reading, checking, planning and recording the largest manifest takes less than 6 MB, on a new device and on one that has every pack",
      .enabled(if: ProcessMemory.isMeasurable, "a sanitizer uses memory of its own"))
    func memory() async throws {
      // In a separate process, so that other tests do not count.
      let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
        let directory = try TemporaryDirectory()
        let document = try directory.write(Self.largest(), to: "manifest.json")
        #expect(try #require(directory.bytes(of: "manifest.json")).count > Manifest.largestSize - 3000)
        let seed = [UInt8](repeating: 1, count: 32)
        let keys = [try SigningKey(seed: SecretBytes(copying: seed.byteSpan)).publicKey]
        // New: every pack is scheduled and gets a record. Known: every pack has a record. Forgotten: every record changes.
        var changes = 0
        for (form, event) in [("new", DeliveryEvent.install), ("known", .periodic), ("forgotten", .periodic)] {
          var smallestPeak = Int.max
          var smallestTime: [Int] = []
          // The minimum of three rounds: a plan that needs more memory needs it in each.
          for round in 0..<3 {
            let path = directory(form == "new" ? "state-\(round)" : "state-0")
            ProcessMemory.giveBack()
            let start = try ProcessMemory.kilobytes("VmRSS")
            try ProcessMemory.resetPeak()
            let time = Self.microseconds()
            let state = try SharedState(directory: path)
            let manifest = try state.accept(manifestAt: document) { (signed) throws(PackError) in try signed.verify(trusting: keys).manifest
            }
            let accepted = Self.microseconds()
            let facts = DeliveryFacts(event, at: now + (form == "forgotten" ? 90_000 * Int64(round + 1) : 0))
            // Planning once without recording, to measure the time of planning only.
            let content = try state.content()
            let read = Self.microseconds()
            let count = DeliveryPlan(for: manifest, records: content.records, files: content.files, facts: facts).changes.count
            let planned = Self.microseconds()
            let plan = try state.plan(for: manifest, facts: facts).plan
            let recorded = Self.microseconds()
            #expect(plan.changes.count == count)
            if recorded - time < smallestTime.reduce(0, +) || smallestTime.isEmpty {
              smallestTime = [accepted - time, read - accepted, planned - read, recorded - planned]
            }
            smallestPeak = min(smallestPeak, try ProcessMemory.kilobytes("VmHWM") - start)
            #expect(form == "known" ? plan.underWay.count == 2000 : plan.downloads.count == 2000)
            changes += plan.changes.count
          }
          #expect(smallestPeak < 6000, "\(form): \(smallestPeak) kB at the peak")
          print(
            "largest manifest, planned, \(form): \(smallestPeak) kB at the peak; CPU in µs to accept, read records, plan, plan and record: \(smallestTime)"
          )
        }
        #expect(changes == 2 * 3 * 2000)
      }
      print(
        String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n").filter { $0.contains("kB at the peak") }
          .joined(separator: "\n"))
    }

    private static func microseconds() -> Int {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return Int(time.tv_sec) * 1_000_000 + Int(time.tv_nsec) / 1000
    }
  }
#endif
