import TestSupport
import Testing

#if os(Linux)
  import CMalloc
  import Foundation

  @Suite("The cost of planning in an extension", .serialized, .bounded)
  struct DeliveryCostTests {
    /// A release that an extension plans for.
    enum Release: String, Codable, CaseIterable {
      /// 200 packs.
      case usual
      /// 2000 packs in a manifest of the largest size, with texts and tags.
      case texts
      /// 1000 packs in a manifest of the largest size, with two deltas each.
      case deltas
      /// As many packs as a manifest of the largest size can list.
      case many
      /// 200 packs, and 100 000 in a catalogue, of which the device has 2000.
      case catalogue

      var packs: [ManifestPack] {
        switch self {
        case .usual, .catalogue: (0..<200).map { Self.pack("Level-of-the-game-\($0)", $0) }
        case .texts:
          (0..<2000).map { number in
            var pack = Self.pack("Level-of-the-game-\(number)", number)
            (pack.name, pack.tags) = ("Level \(number)", ["level", "world-\(number / 10)"])
            pack.description = "d"
            return pack
          }
        case .deltas:
          (0..<1000).map { number in
            var pack = Self.pack("Level-of-the-game-\(number)", number)
            pack.deltas = [11, 10].map { base in
              ManifestDelta(bases: [digest("root \(pack.id)", base)], size: 1000 + base, sha256: digest("\(pack.id) \(base)", 12))
            }
            .sorted { $0.sha256.lexicographicallyPrecedes($1.sha256) }
            pack.description = "d"
            return pack
          }
        case .many: (0..<3297).map { Self.pack("l\($0)", $0, size: 9, .packed) }
        }
      }

      private static func pack(_ id: String, _ number: Int, size: UInt64 = 1_000_000, _ mode: InstallMode = .unpacked) -> ManifestPack {
        offer(id, 12, size: size, number % 10 == 0 ? .essential : .prefetch, mode)
      }

      /// The document, filled up to the largest size with descriptions.
      func document(version: UInt64 = 2) throws -> [UInt8] {
        var manifest = manifest(packs, version: version)
        manifest.defaults = ManifestDefaults(baseURL: "https://cdn.example.com/", keyID: manifest.packs[0].keyID)
        for number in manifest.packs.indices {
          manifest.packs[number].url = manifest.defaults.url(manifest.packs[number].id, manifest.packs[number].sha256)!
        }
        if self == .catalogue {
          manifest.catalogue = (0..<1024).map { number in
            Shard(size: 16_000, contentSize: 60_000, maxCount: 98, sha256: digest("shard", UInt64(number)))
          }
        }
        let short = try sign(manifest)
        guard self == .texts || self == .deltas || self == .many else { return short }
        let (left, count) = (Manifest.largestSize - short.count, self == .many ? 1 : manifest.packs.count)
        let text = String(repeating: "d", count: self == .many ? left - 17 : 1 + left / count)
        for number in 0..<count { manifest.packs[number].description = text }
        return try sign(manifest)
      }

      private func sign(_ manifest: Manifest) throws -> [UInt8] {
        let signed = try manifest.signedBytes()
        return try SignedManifest(signed: signed, signatures: [SignedManifest.signature(of: signed, by: key())]).bytes
      }

      /// What the device has in the catalogue.
      var installed: [DevicePack] {
        self == .catalogue ? (0..<2000).map { PackDeliveryTests.installed("on-demand-pack-\($0)", 12) } : []
      }
    }

    /// What the extension finds.
    enum Situation: String, Codable, CaseIterable {
      /// No record.
      case new
      /// All packs are with the system.
      case underWay
      /// All packs were with the system, and there was no news for a day.
      case forgotten
      /// The device has an earlier version of all packs, and the extension an earlier manifest.
      case outdated
      /// All packs arrived and wait for the app.
      case arrived
      /// The manifest was changed by somebody on its way. The extension has it, too.
      case refused

      func status(_ pack: ManifestPack) -> PackStatus? {
        switch self {
        case .new, .outdated: nil
        case .underWay, .forgotten, .refused: .sample(pack.id, bytes: PackBytes(pack), [.scheduled(isEssential: false)])
        case .arrived: .sample(pack.id, bytes: PackBytes(pack), [.scheduled(isEssential: false), .arrived])
        }
      }
    }

    private static func key() throws(PackError) -> SigningKey {
      let seed = [UInt8](repeating: 1, count: 32)
      return try SigningKey(seed: SecretBytes(copying: seed.byteSpan))
    }

    /// Makes the directory of an extension in this situation.
    private func prepare(
      _ release: Release, _ document: [UInt8], _ situation: Situation, in directory: borrowing TemporaryDirectory
    ) throws {
      var document = document
      #expect(release == .usual || release == .catalogue || document.count > Manifest.largestSize - 4000)
      let path = directory("state")
      let state = try SharedState(directory: path, store: directory("store"))
      if situation == .refused {
        _ = try state.accept(document, trusting: TrustedKeys([Self.key().publicKey]))
        document[document.count - 40] ^= 1
      }
      if situation == .outdated {
        // As large as the new one, whose packs are compared with it.
        try directory.write(release.document(version: 1), to: "state/manifest")
      }
      try directory.write(document, to: "manifest.json")
      var device = release.installed
      if situation == .outdated {
        device += release.packs.map {
          DevicePack(id: $0.id, version: 11, sha256: digest($0.id, 11), mode: .unpacked, contentRoot: digest("root \($0.id)", 11))
        }
      }
      for (name, record) in device.storeRecords { try directory.write(record, to: "store/state/\(name)") }
      for status in release.packs.compactMap(situation.status) {
        try directory.write(status.record, to: "state/packs/\(PackName.fileName(of: status.id))")
        guard status.state == .notLoaded(.arrived) else { continue }
        try directory.write([], to: "state/incoming/\(status.identifier)")
        truncate(directory("state/incoming/\(status.identifier)"), off_t(status.file.size))
      }
    }

    private static let mebibyte = 1 << 20

    @Test(
      "planning with the largest manifest allocates at most 2 MiB at any moment, the check of its signature included",
      .enabled(if: ProcessMemory.isMeasurable, "a sanitizer has an allocator of its own"), arguments: Release.allCases)
    func memory(_ release: Release) async throws {
      let document = try release.document()
      let most: [Situation] = release == .texts || release == .many ? [.outdated, .arrived, .refused] : [.outdated]
      for situation in Effort.isFull ? Situation.allCases : most { try await memory(release, document, situation) }
    }

    private func memory(_ release: Release, _ document: [UInt8], _ situation: Situation) async throws {
      let directory = try TemporaryDirectory()
      try prepare(release, document, situation, in: directory)
      let count = release.packs.count
      // In a separate process, so that nothing else counts, and with what a process allocates only once.
      let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
        [path = directory.path as String, release = release as Release, situation = situation as Situation, count = count as Int] in
        let small = try TemporaryDirectory()
        func plan(_ path: String) throws -> ExtensionDelivery.Answer {
          let clock = TestClock(now + (situation == .forgotten ? 90_000 : 10))
          let state = try SharedState(directory: path + "/state", store: path + "/store", files: SystemFiles(), clock: clock)
          let keys = TrustedKeys([try Self.key().publicKey])
          return ExtensionDelivery(state: state, trusting: keys)
            .downloads(for: .periodic, manifestAt: path + "/manifest.json", allowance: nil)
        }
        try small.write(Release.usual.document(), to: "manifest.json")
        _ = try plan(small.path)
        ProcessMemory.giveBack()
        let dirty = try ProcessMemory.dirtyKilobytes()
        packer_start_counting()
        let answer = try plan(path)
        let most = packer_end_counting()
        let (after, time) = (try ProcessMemory.dirtyKilobytes(), answer.plan)
        let plan = try #require(time)
        #expect((answer.refusal?.code == .untrustedSignature) == (situation == .refused))
        let here = plan.underWay.count + plan.handOver.count + plan.ready.count
        #expect(plan.downloads.count + here + plan.postponed.count == count)
        #expect(plan.undecided.isEmpty, "what is installed of a catalogue is the app's matter")
        #expect(here == ([.underWay, .arrived, .refused].contains(situation) ? count : 0))
        print("\(release.rawValue), \(situation.rawValue): \(count) packs, \(most) bytes at the peak, \(after - dirty) kB dirtied")
        #expect(most > 10_000, "nothing was counted")
        #expect(most <= 2 * Self.mebibyte, "\(release), \(situation): \(most) bytes")
      }
      print(
        String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n").filter { $0.contains("at the peak") }
          .joined(separator: "\n"))
    }
  }

  extension PackStatus {
    fileprivate static func sample(_ id: String, bytes: PackBytes? = nil, _ events: [PackEvent]) -> PackStatus {
      var status = PackStatus(id: id, bytes: bytes ?? PackDeliveryTests.bytes(id, 12), at: now)
      for event in events {
        if let next = status.after(event, at: now) { status = next }
      }
      return status
    }
  }
#endif
