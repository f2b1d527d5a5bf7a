import Foundation
import PackApp
import WebKit
import XCTest

/// Runs inside the app, in a simulator or on a device, with the release that `make-release` wrote and with its key from the scheme.
final class GamePlayerTests: XCTestCase {
  /// Opens the release inside the app, in a directory of its own. There is no server.
  private static func library(_ keys: some KeyProvider) async throws -> PackLibrary {
    var options = PackLibrary.Options()
    options.bundled = try XCTUnwrap(Bundle.main.url(forResource: "dist", withExtension: nil))
    return try await PackLibrary(
      directory: FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString),
      manifest: try XCTUnwrap(URL(string: "https://localhost/manifest.json")), trusting: Publisher.publicKeys, keys: keys, options: options)
  }

  /// Puts the key into the Keychain.
  private static func keys() throws -> KeychainKeys {
    let text = try XCTUnwrap(ProcessInfo.processInfo.environment["PACKER_KEY"])
    let key = try PackKey(text: Array(text.utf8))
    let keys = KeychainKeys(service: "com.example.games.tests", roots: [key.id])
    try keys.add(key)
    return keys
  }

  func testGamesAreInstalledReadAndRemoved() async throws {
    let packs = try await Self.library(Self.keys())
    let games = await packs.offers().packs.map(\.id)
    XCTAssertEqual(games, ["memory", "packrat", "puzzle"])
    try await packs.ensure(games)
    for game in games { XCTAssertFalse(try packs.data(game, "index.html").isEmpty) }
    let file = try await packs.file("memory", "index.html")
    XCTAssertEqual(try Data(contentsOf: file), try packs.data("memory", "index.html"))
    try await packs.remove("puzzle")
    XCTAssertThrowsError(try packs.data("puzzle", "index.html"))
  }

  @MainActor func testAGameIsPlayedFromItsPack() async throws {
    let packs = try await Self.library(Self.keys())
    try await packs.ensure("memory")
    let page = PackWebPage(of: "memory", from: PackSchemeHandler(store: packs.store), isInspectable: false)
    page.onFailure = { XCTFail("\($0)") }
    page.load()
    var title = ""
    for _ in 0..<600 where title.isEmpty {
      try await Task.sleep(for: .milliseconds(100))
      title = try await page.webView.evaluateJavaScript("document.readyState === 'complete' ? document.title : ''") as? String ?? ""
    }
    XCTAssertFalse(title.isEmpty)
    page.close()
  }

  func testWithoutItsKeyAGameIsNotOpened() async throws {
    let packs = try await Self.library(KeychainKeys(service: "com.example.games.tests.none"))
    do throws(PackError) {
      try await packs.ensure("memory")
      XCTFail("it is opened")
    } catch {
      XCTAssertEqual(error.code, .noKey)
    }
  }
}
