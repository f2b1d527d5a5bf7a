import TestSupport
import Testing

#if os(Linux)
  import Foundation

  @Suite("The cost of pages", .serialized, .bounded)
  struct PageCostTests {
    /// The number of packs: 4000, or 12 000 if everything is tried, or what `PACKER_PAGE_PACKS` says.
    private static let count =
      ProcessInfo.processInfo.environment["PACKER_PAGE_PACKS"].flatMap(Int.init) ?? Effort.number(quick: 4000, full: 12_000)

    /// The pages that a search needs, in rounds, and its bytes.
    private static func search<Value>(
      _ sample: PageSample, _ body: (PageSearch.Source) throws -> PageFinding<Value>
    ) throws -> (value: Value, bytes: UInt64, pages: Set<PageReference>) {
      var pages: [PageReference: [UInt8]] = [:]
      while true {
        switch try body(pages.source) {
        case .found(let value): return (value, pages.keys.reduce(0) { $0 + $1.size }, Set(pages.keys))
        case .needs(let missing):
          for reference in missing { pages[reference] = sample.pages[reference] }
        }
      }
    }

    @Test("a catalogue has a small root, and a release that changes one pack costs a device at most 64 KiB")
    func bytes() throws {
      let sample = try PageSample(Self.count)
      let number = Self.count / 2
      let later = try PageSample(Self.count) { packs in
        packs[number].sha256[0] ^= 1
        packs[number].version += 1
      }
      var empty = sample.manifest
      empty.pages = []
      let root = try sign(sample.manifest).bytes.count
      let pages = sample.assembly.files.map(\.reference)
      let once = try Self.search(sample) { source in
        try PageSearch(sample.manifest).packs([PageSample.id(number)], in: source)
      }
      let again = try Self.search(later) { source in
        try PageSearch(later.manifest).packs([PageSample.id(number)], in: source)
      }
      let tagged = try Self.search(sample) { source in
        try PageSearch(sample.manifest).packs(taggedWith: "world-\(number / 50)", in: source)
      }
      // The page of packs, its index page and the root. The pages of tags stay.
      let update = UInt64(root) + again.pages.subtracting(pages).reduce(0) { $0 + $1.size }

      #expect(once.value == [sample.packs[number]] && again.value == [later.packs[number]] && tagged.value.count == 50)
      #expect(root <= 16 << 10)
      #expect(update <= 64 << 10)
      #expect(pages.map(\.contentSize).max() ?? 0 <= PageReference.largestContentSize)
      let sizes = pages.map(\.size)
      print(
        "\(Self.count) packs: root \(root) bytes, \(try sign(empty).bytes.count) without pages; \(pages.count) pages of \(sizes.reduce(0, +)) bytes, the largest \(sizes.max() ?? 0)"
      )
      print(
        "\(Self.count) packs: by id \(once.pages.count) pages, \(once.bytes) bytes; by tag \(tagged.pages.count) pages, \(tagged.bytes) bytes; one pack changed \(update) bytes"
      )
    }

    @Test(
      "a search by id and by tag stays within 3 MB",
      .enabled(if: ProcessMemory.isMeasurable, "a sanitizer uses extra memory"))
    func memory() async throws {
      let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) { [count = Self.count as Int] in
        let sample = try PageSample(count)
        let search = PageSearch(sample.manifest)
        for name in ["id", "tag"] {
          var smallestPeak = Int.max
          var fastest = Duration.seconds(100)
          for _ in 0..<3 {
            ProcessMemory.giveBack()
            let start = try ProcessMemory.kilobytes("VmRSS")
            try ProcessMemory.resetPeak()
            let time = ContinuousClock.now
            let finding =
              try name == "id"
              ? search.packs([PageSample.id(count / 2)], in: sample.pages.source)
              : search.packs(taggedWith: "world-\(count / 100)", in: sample.pages.source)
            fastest = min(fastest, ContinuousClock.now - time)
            smallestPeak = min(smallestPeak, try ProcessMemory.kilobytes("VmHWM") - start)
            guard case .found(let packs) = finding else { fatalError("pages are missing") }
            #expect(packs.count == (name == "id" ? 1 : 50))
          }
          #expect(smallestPeak < 3000, "\(smallestPeak) kB at the peak")
          print("\(count) packs, by \(name): \(smallestPeak) kB at the peak, \(fastest)")
        }
      }
      print(
        String(decoding: result?.standardOutputContent ?? [], as: UTF8.self).split(separator: "\n").filter { $0.contains("kB at the peak") }
          .joined(separator: "\n"))
    }
  }
#endif
