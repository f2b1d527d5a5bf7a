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

    /// The number of packs of a catalogue: 4000, or 12 000 if everything is tried, or what `PACKER_PAGE_PACKS` says.
    private static let catalogue =
      ProcessInfo.processInfo.environment["PACKER_PAGE_PACKS"].flatMap(Int.init) ?? Effort.number(quick: 4000, full: 12_000)

    @Test(
      "a content request for a catalogue takes less than 6 MB with 500 installed packs, and only the pages of these",
      .enabled(if: ProcessMemory.isMeasurable, "a sanitizer uses memory of its own"))
    func catalogueMemory() async throws {
      let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
        let count = Self.catalogue
        let directory = try TemporaryDirectory()
        let seed = [UInt8](repeating: 1, count: 32)
        let key = try SigningKey(seed: SecretBytes(copying: seed.byteSpan))
        let base = "https://cdn.example.com/"
        let ids = (0..<500).map { "level-\(1_000_000 + $0 * (count / 500))" }
        // The release and the pages that the device has, in a function, so that their memory is free afterwards.
        func prepare() throws -> (path: String, all: Int, here: Int) {
          let packs = (0..<count).map { number in
            var pack = offer("level-\(1_000_000 + number)", 12, size: 1_000_000, .onDemand, .unpacked)
            pack.url = base + ManifestPack.publishedName(pack.id, pack.sha256)
            pack.tags = ["world-\(number / 50)"]
            return pack
          }
          var root = manifest(offer("core"))
          root.defaults = ManifestDefaults(baseURL: base, keyID: packs[0].keyID)
          let assembly = try PageAssembly(packs, defaults: root.defaults, backend: CryptoBackends.standard)
          root.pages = assembly.references
          let signed = try root.signedBytes()
          let document = try SignedManifest(signed: signed, signatures: [SignedManifest.signature(of: signed, by: key)])
          // Only the pages of installed packs are on the device.
          var files: [PageReference: [UInt8]] = [:]
          for file in assembly.files { files[file.reference] = file.bytes }
          let state = try SharedState(directory: directory("state"))
          let folder = PageFolder(state.pagesPath)
          var here = 0
          while case let missing = try folder.lookup(ids, in: root).missing, !missing.isEmpty {
            here += missing.count
            for reference in missing { try folder.keep(files[reference] ?? [], as: reference) }
          }
          let device = ids.map { installed($0, 12, .unpacked) }
          let plan = try state.plan(for: root, facts: DeliveryFacts(.launch, at: now, device: device), pages: folder).plan
          #expect(plan.ready.count == 500 && plan.awaitingPages.isEmpty)
          return (try directory.write(document.bytes, to: "manifest.json"), files.count, here)
        }
        let (path, all, here) = try prepare()
        var smallestPeak = Int.max
        var smallestTime = Int.max
        for _ in 0..<3 {
          ProcessMemory.giveBack()
          let start = try ProcessMemory.kilobytes("VmRSS")
          try ProcessMemory.resetPeak()
          let time = Self.microseconds()
          var ours = ExtensionDelivery(state: try SharedState(directory: directory("state"))) {
            [key = key.publicKey] (signed) throws(PackError) in
            try signed.verify(trusting: [key]).manifest
          }
          ours.pages = PageFolder(ours.state.pagesPath)
          let answer = ours.downloads(for: .periodic, manifestAt: path, allowance: nil)
          smallestTime = min(smallestTime, Self.microseconds() - time)
          smallestPeak = min(smallestPeak, try ProcessMemory.kilobytes("VmHWM") - start)
          #expect(answer.refusal == nil && answer.plan?.ready.count == 500 && answer.plan?.awaitingPages.isEmpty == true)
        }
        #expect(smallestPeak < 6000, "\(smallestPeak) kB at the peak")
        #expect(here <= 2 * 500 && here <= all)
        print("catalogue of \(count), planned: \(smallestPeak) kB at the peak, \(smallestTime) µs of CPU, \(here) of \(all) pages")
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
