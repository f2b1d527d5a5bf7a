import TestSupport
import Testing

#if os(Linux)
  import Foundation

  @Suite("The cost of a catalogue", .serialized, .bounded)
  struct CatalogueCostTests {
    /// The number of packs: 4000, or 12 000 if everything is tried, or what `PACKER_CATALOGUE_PACKS` says.
    private static let count =
      ProcessInfo.processInfo.environment["PACKER_CATALOGUE_PACKS"].flatMap(Int.init) ?? Effort.number(quick: 4000, full: 12_000)

    @Test(
      "a large catalogue has a small manifest, and a release that changes one pack costs a device that and one shard",
      arguments: [0, 2, 4])
    func bytes(_ deltas: Int) throws {
      let sample = try CatalogueSample(Self.count, deltas: deltas)
      let number = Self.count / 2
      let later = try CatalogueSample(Self.count, atLeast: sample.assembly.shards.count, deltas: deltas) { packs in
        packs[number].sha256[0] ^= 1
        packs[number].version += 1
      }
      let root = try sign(sample.manifest).bytes.count
      let (before, after) = (sample.assembly.shards, later.assembly.shards)
      let changed = zip(before, after).filter { $0 != $1 }.map { $1 }

      #expect(before.count == after.count && changed.count == 1)
      #expect(try changed.first?.sha256 == after[Shard.number(of: CatalogueSample.id(number), among: after.count)].sha256)
      #expect(root <= 2000 + 200 * before.count)
      #expect(before.allSatisfy { $0.contentSize < 512 << 10 })
      // Two digests of a pack, and two of each delta, do not shrink.
      #expect(changed.allSatisfy { $0.size <= 256 << 10 })
      let sizes = before.map(\.size)
      print(
        "\(Self.count) packs with \(deltas) deltas: manifest \(root) bytes; \(before.count) shards of \(sizes.reduce(0, +)) bytes, the largest \(sizes.max() ?? 0); one pack changed \(root + Int(changed.first?.size ?? 0)) bytes"
      )
    }

    @Test(
      "a lookup stays within 4 MB, and a listing within 2 KB a pack more",
      .enabled(if: ProcessMemory.isMeasurable, "a sanitizer uses extra memory"))
    func memory() async throws {
      // In a separate process, because the memory of other tests would count otherwise.
      let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) { [count = Self.count as Int] in
        let directory = try TemporaryDirectory()
        let sample = try CatalogueSample(count)
        let manifest = sample.manifest
        func catalogue() -> Catalogue { Catalogue(directory("catalogue"), files: SystemFiles(), backend: CryptoBackends.standard) }
        for (index, file) in sample.assembly.files.enumerated() { try catalogue().keep(file.bytes, index, of: manifest) }
        for name in ["lookup", "listing"] {
          var smallestPeak = Int.max
          var fastest = Duration.seconds(100)
          for _ in 0..<3 {
            ProcessMemory.giveBack()
            let start = try ProcessMemory.kilobytes("VmRSS")
            try ProcessMemory.resetPeak()
            let time = ContinuousClock.now
            let found =
              try name == "lookup"
              ? catalogue().lookUp([CatalogueSample.id(count / 2)], in: manifest).packs.count
              : catalogue().listing(of: manifest).packs.count
            fastest = min(fastest, ContinuousClock.now - time)
            smallestPeak = min(smallestPeak, try ProcessMemory.kilobytes("VmHWM") - start)
            #expect(found == (name == "lookup" ? 1 : count + 1))
          }
          #expect(smallestPeak < 4000 + (name == "lookup" ? 0 : 2 * count), "\(name): \(smallestPeak) kB at the peak")
          print("\(count) packs, \(name): \(smallestPeak) kB at the peak, \(fastest)")
        }
      }
      print(
        String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n").filter { $0.contains("kB at the peak") }
          .joined(separator: "\n"))
    }
  }
#endif
