import Foundation
import TestSupport
import Testing

@Suite("The guide to requests by tags", .bounded)
struct TagGuideTests {
  @Test("its example is code that compiles")
  func snippet() throws {
    let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let source = try String(contentsOf: here.appendingPathComponent("TagExample.swift"), encoding: .utf8)
    let guide = try String(contentsOf: here.appendingPathComponent("../../../Documentation/ON_DEMAND.md"), encoding: .utf8)
    #expect(guide.contains("```swift\n\(source)```\n"))
  }

  @Test("its example plays an installed level, and fetches a missing one")
  func example() async throws {
    let tags = try TagStage()
    let (store, transport, packs) = try await tags.open()
    let offers = try await [tags.offer("meadow", tags: ["level-1"]), tags.offer("cave", tags: ["level-2"])]
    try await packs.adopt(tags.stage.manifest(1, offers))
    try await tags.deliver([offers[0]], to: store)
    let levels = try await Levels(packs: packs)
    try await levels.play(
      1, wait: { _ in Issue.record("it was there") },
      show: { access in
        #expect((try? access.read("index.html")) == Array("meadow 1 0".utf8))
      })
    #expect(transport.calls.isEmpty)
    try await levels.prepare(2)
    #expect(transport.calls.count == 1)
    try await levels.play(
      2, wait: { _ in },
      show: { access in
        #expect((try? access.read("index.html")) == Array("cave 1 0".utf8))
        #expect((try? await store.purge(toFree: .max).removed.count) == 1)
      })
    // The level that is played stays. The other level was purged, although its preservation is 0.9.
    #expect(try await store.installed().map(\.id) == ["cave"])
  }
}
