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
    let store = try await tags.stage.open()
    let transport = tags.transport()
    let queue = try await tags.queue(transport)
    let offers = try await [tags.offer("meadow", tags: ["level-1"], delivery: .essential), tags.offer("cave", tags: ["level-2"])]
    try await store.adopt(tags.stage.manifest(1, offers))
    try await tags.deliver([offers[0]], to: store)
    try await queue.running {
      let levels = try await Levels(store: store, queue: queue)
      try await levels.play(1, wait: { _ in Issue.record("it was there") }) { access in
        #expect((try? access.read("index.html")) == Array("meadow 1 0".utf8))
      }
      #expect(transport.calls.isEmpty)
      try await levels.prepare(2)
      #expect(transport.calls.count == 1)
      try await levels.play(2, wait: { _ in }) { access in
        #expect((try? access.read("index.html")) == Array("cave 1 0".utf8))
        #expect((try? await store.purge(toFree: .max).removed.count) == 1)
      }
      // The level that is played stays. The other level was purged, although its preservation is 0.9.
      #expect(try await store.installed().map(\.id) == ["cave"])
    }
  }
}
