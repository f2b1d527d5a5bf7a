import TestSupport
import Testing

#if os(Linux)
  import Foundation

  @Suite("The cost of planning in an extension", .serialized, .bounded)
  struct DeliveryCostTests {
    private static let base = "https://cdn.example.com/"

    private static func key() throws(PackError) -> SigningKey {
      let seed = [UInt8](repeating: 1, count: 32)
      return try SigningKey(seed: SecretBytes(copying: seed.byteSpan))
    }

    private static func id(_ number: Int) -> String { "Level-of-the-game-\(number)" }

    /// The packs of the largest manifest: 2000, or 1000 that have two deltas each.
    private static func packs(_ deltas: Int, filling: Int) -> [ManifestPack] {
      (0..<(deltas == 0 ? 2000 : 1000)).map { number in
        var pack = offer(id(number), 12, size: 1_000_000, number % 10 == 0 ? .essential : .prefetch, .unpacked)
        pack.name = "Level \(number)"
        pack.tags = ["level", "world-\(number / 10)"]
        pack.description = String(repeating: "d", count: filling)
        pack.deltas = (0..<deltas).map { delta in
          ManifestDelta(
            bases: [digest("root \(pack.id)", UInt64(11 - delta))], size: UInt64(1000 + delta), sha256: digest("\(pack.id) \(delta)", 12))
        }
        .sorted { $0.sha256.lexicographicallyPrecedes($1.sha256) }
        return pack
      }
    }

    /// Returns a manifest of the maximum size, 1 MiB.
    private static func largest(_ deltas: Int) throws(PackError) -> [UInt8] {
      func document(_ filling: Int) throws(PackError) -> [UInt8] {
        var manifest = manifest(packs(deltas, filling: filling))
        if deltas > 0 { manifest.defaults.baseURL = base }
        let signed = try manifest.signedBytes()
        return try SignedManifest(signed: signed, signatures: [SignedManifest.signature(of: signed, by: key())]).bytes
      }
      // An empty description is not written.
      let short = try document(1).count
      return try document(1 + (Manifest.largestSize - short) / (deltas == 0 ? 2000 : 1000))
    }

    /// Plans as the app does while it has an earlier version of every pack, so that the next downloads are deltas.
    private static func planInApp(in path: String, at time: Int64, trusting keys: [SigningPublicKey]) throws(PackError) {
      let state = try SharedState(directory: path)
      let manifest = try state.lastManifest { (signed) throws(PackError) in try signed.verify(trusting: keys).manifest }
      guard let manifest else { return }
      let device = manifest.packs.map { pack in
        DevicePack(id: pack.id, version: 11, sha256: digest(pack.id, 11), mode: .packed, contentRoot: digest("root \(pack.id)", 11))
      }
      _ = try state.plan(for: manifest, facts: DeliveryFacts(.launch, at: time, device: device))
    }

    @Test(
      "reading, checking, planning and recording the largest manifest takes less than 6 MB, on a new device and on one that has every pack, and also if packs have deltas",
      .enabled(if: ProcessMemory.isMeasurable, "a sanitizer uses memory of its own"), arguments: [0, 2])
    func memory(_ deltas: Int) async throws {
      // In a separate process, so that other tests do not count.
      let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) { [deltas = deltas as Int] in
        let directory = try TemporaryDirectory()
        let document = try directory.write(Self.largest(deltas), to: "manifest.json")
        #expect(try #require(directory.bytes(of: "manifest.json")).count > Manifest.largestSize - 3000)
        let keys = [try Self.key().publicKey]
        let count = deltas == 0 ? 2000 : 1000
        // New: every pack is scheduled and gets a record. Known: every pack has a record. Forgotten: every record changes.
        var changes = 0
        var start = now
        for (form, event) in [("new", DeliveryEvent.install), ("known", .periodic), ("forgotten", .periodic)] {
          var smallestPeak = Int.max
          var smallestTime: [Int] = []
          // The minimum of three rounds: a plan that needs more memory needs it in each.
          for round in 0..<3 {
            let path = directory(form == "new" ? "state-\(round)" : "state-0")
            ProcessMemory.giveBack()
            let before = try ProcessMemory.kilobytes("VmRSS")
            try ProcessMemory.resetPeak()
            let time = Self.microseconds()
            let state = try SharedState(directory: path)
            let manifest = try state.accept(manifestAt: document) { (signed) throws(PackError) in try signed.verify(trusting: keys).manifest
            }
            let accepted = Self.microseconds()
            let facts = DeliveryFacts(event, at: start + (form == "forgotten" ? 90_000 * Int64(round + 1) : 0))
            // Planning once without recording, to measure the time of planning only.
            let content = try state.content()
            let read = Self.microseconds()
            let changed = DeliveryPlan(for: manifest, records: content.records, files: content.files, facts: facts).changes.count
            let planned = Self.microseconds()
            let plan = try state.plan(for: manifest, facts: facts).plan
            let recorded = Self.microseconds()
            #expect(plan.changes.count == changed)
            if recorded - time < smallestTime.reduce(0, +) || smallestTime.isEmpty {
              smallestTime = [accepted - time, read - accepted, planned - read, recorded - planned]
            }
            smallestPeak = min(smallestPeak, try ProcessMemory.kilobytes("VmHWM") - before)
            #expect(form == "known" ? plan.underWay.count == count : plan.downloads.count == count)
            #expect(plan.downloads.allSatisfy { $0.isDelta == (form == "forgotten" && deltas > 0) })
            changes += plan.changes.count
          }
          if deltas > 0, form == "new" {
            start += 90_000
            try Self.planInApp(in: directory("state-0"), at: start, trusting: keys)
          }
          #expect(smallestPeak < 6000, "\(form): \(smallestPeak) kB at the peak")
          print(
            "largest manifest with \(deltas) deltas to a pack, planned, \(form): \(smallestPeak) kB at the peak; CPU in µs to accept, read records, plan, plan and record: \(smallestTime)"
          )
        }
        #expect(changes == 2 * 3 * count)
      }
      print(
        String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n").filter { $0.contains("kB at the peak") }
          .joined(separator: "\n"))
    }

    /// The number of packs of a catalogue: 4000, or 12 000 if everything is tried, or what `PACKER_CATALOGUE_PACKS` says.
    private static let catalogue =
      ProcessInfo.processInfo.environment["PACKER_CATALOGUE_PACKS"].flatMap(Int.init) ?? Effort.number(quick: 4000, full: 12_000)

    @Test(
      "a content request with 500 installed packs of a catalogue takes less than 6 MB, and none of its shards",
      .enabled(if: ProcessMemory.isMeasurable, "a sanitizer uses memory of its own"))
    func catalogueMemory() async throws {
      let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
        let count = Self.catalogue
        let directory = try TemporaryDirectory()
        let key = try Self.key()
        // The release and what the device has, in a function, so that their memory is free afterwards.
        func prepare() throws -> String {
          let packs = (0..<count).map { offer("level-\(1_000_000 + $0)", 12, size: 1_000_000, .onDemand, .unpacked) }
          var root = manifest(offer("core"))
          root.defaults = ManifestDefaults(baseURL: Self.base, keyID: packs[0].keyID)
          let assembly = try CatalogueAssembly(packs, atLeast: 1, defaults: root.defaults, backend: CryptoBackends.standard)
          root.catalogue = assembly.shards
          let catalogue = Catalogue(directory("catalogue"), files: SystemFiles(), backend: CryptoBackends.standard)
          for (number, file) in assembly.files.enumerated() { try catalogue.keep(file.bytes, number, of: root) }
          let device = (0..<500).map { installed(packs[$0 * (count / 500)].id, 12, .unpacked) }
          let state = try SharedState(directory: directory("state"))
          let manifest = root
          let plan = try state.plan(for: manifest, facts: DeliveryFacts(.launch, at: now, device: device)) { (ids) throws(PackError) in
            try catalogue.lookUp(ids, in: manifest)
          }.plan
          #expect(plan.ready.count == 500 && plan.undecided.isEmpty)
          let signed = try root.signedBytes()
          let document = try SignedManifest(signed: signed, signatures: [SignedManifest.signature(of: signed, by: key)])
          return try directory.write(document.bytes, to: "manifest.json")
        }
        let path = try prepare()
        var smallestPeak = Int.max
        var smallestTime = Int.max
        for _ in 0..<3 {
          ProcessMemory.giveBack()
          let start = try ProcessMemory.kilobytes("VmRSS")
          try ProcessMemory.resetPeak()
          let time = Self.microseconds()
          let ours = ExtensionDelivery(state: try SharedState(directory: directory("state"))) {
            [key = key.publicKey] (signed) throws(PackError) in
            try signed.verify(trusting: [key]).manifest
          }
          let answer = ours.downloads(for: .periodic, manifestAt: path, allowance: nil)
          smallestTime = min(smallestTime, Self.microseconds() - time)
          smallestPeak = min(smallestPeak, try ProcessMemory.kilobytes("VmHWM") - start)
          #expect(answer.refusal == nil && answer.plan?.undecided.count == 500 && answer.plan?.obsolete == [])
        }
        #expect(smallestPeak < 6000, "\(smallestPeak) kB at the peak")
        print("catalogue of \(count), planned: \(smallestPeak) kB at the peak, \(smallestTime) µs of CPU")
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
