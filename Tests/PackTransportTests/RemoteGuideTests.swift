import Foundation
import TestSupport
import Testing

@Suite("The guide to remote assets", .bounded)
struct RemoteGuideTests {
  @Test("its example is code that compiles")
  func snippet() throws {
    let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let source = try String(contentsOf: here.appendingPathComponent("RemoteExample.swift"), encoding: .utf8)
    let guide = try String(contentsOf: here.appendingPathComponent("../../Documentation/REMOTE_ASSETS.md"), encoding: .utf8)
    #expect(guide.contains("```swift\n\(source)```\n"))
  }

  @Test(
    "its example starts with the bundled content and then uses the server's",
    .enabled(if: NginxServer.program != nil, "nginx is not installed"))
  func example() async throws {
    let directory = try TemporaryDirectory()
    let server = try NginxServer(in: directory)
    try directory.write(#"{"levels": ["one"]}"#.utf8, to: "bundle/settings.json")
    try directory.write(#"{"levels": ["one", "two"]}"#.utf8, to: "www/settings.json")
    try directory.makeDirectory("caches")
    let store = try await AssetStore(root: directory("store"), keys: KeyRing(), trusting: [try SigningKey.random().publicKey])
    func open() throws -> RemoteAssets {
      try openAssets(bundle: directory("bundle"), caches: directory("caches"), appVersion: "1", server: server.url, store: store)
    }
    let assets = try open()
    #expect(assets[.settings].value.levels == ["one"])
    let results = await assets.refresh()
    #expect(results["settings"]?.description == "replaced")
    #expect(results["news"]?.error?.code == .notInstalled)
    #expect(assets[.settings].value.levels == ["one", "two"])
    #expect(try open()[.settings].value.levels == ["one", "two"])
    #expect(assets[.news].value == "")
  }
}
