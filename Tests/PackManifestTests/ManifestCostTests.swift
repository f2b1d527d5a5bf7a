import TestSupport
import Testing

#if os(Linux)
  import Foundation

  @Suite("The memory cost of a manifest", .serialized, .bounded)
  struct ManifestCostTests {
    /// The largest manifest: 2000 packs and 1 MiB.
    private static func largest() throws(PackError) -> [UInt8] {
      func document(_ filling: Int) throws(PackError) -> [UInt8] {
        try sign(
          .sample(
            packs: (0..<2000).map { number in
              var pack = ManifestPack.sample("level-\(number)")
              pack.created = ManifestTime("2026-07-01T12:00:00Z")
              pack.tags = ["level", "world-\(number / 10)"]
              pack.name = "Level \(number)"
              pack.description = String(repeating: "d", count: filling)
              return pack
            })
        ).bytes
      }
      // An empty description is not written.
      let short = try document(1).count
      return try document(1 + (Manifest.largestSize - short) / 2000)
    }

    @Test(
      "the largest manifest is verified and read within 4 MB, including the document",
      .enabled(if: ProcessMemory.isMeasurable, "a sanitizer uses extra memory"), arguments: Backend.all)
    func memory(_ backend: Backend) async throws {
      // In a separate process, because the memory of other tests would count otherwise.
      let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
        [name = backend.value.name as String] in
        let backend = try #require(Backend.all.first { $0.value.name == name })
        let document = try Self.largest()
        #expect(document.count > Manifest.largestSize - 2000)
        let key = try signingKey().publicKey
        var smallestPeak = Int.max
        for _ in 0..<3 {
          // Returns freed memory to the system. Otherwise its reuse would not be measured.
          ProcessMemory.giveBack()
          let start = try ProcessMemory.kilobytes("VmRSS")
          try ProcessMemory.resetPeak()
          // A client has its own copy of the document.
          let verified = try SignedManifest([UInt8](copying: document.byteSpan)).verify(
            trusting: TrustedKeys([key]), backend: backend.value)
          smallestPeak = min(smallestPeak, try ProcessMemory.kilobytes("VmHWM") - start)
          #expect(verified.manifest.packs.count == 2000)
        }
        #expect(smallestPeak < 4000, "\(smallestPeak) kB at the peak")
        print("largest manifest, \(name): \(smallestPeak) kB at the peak")
      }
      print(
        String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n").filter { $0.contains("kB at the peak") }
          .joined(separator: "\n"))
    }
  }
#endif
