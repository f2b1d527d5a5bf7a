// Ten tasks of an app, as it writes them with PackApp. 'Scripts/apple-floors' type-checks this for the oldest systems and for newer ones.

import Foundation
import PackApp
import SwiftUI
import WebKit

private let address = URL(string: "https://cdn.example.com/packs/manifest.json")!

// task: open
func open() async throws -> PackLibrary {
  try await PackLibrary(group: "group.com.example.arcade", trusting: ["pkp1-…"], keys: .keychain("com.example.arcade"))
}

// task: make usable, with progress in bytes
func ensure(_ id: String, in packs: PackLibrary, show: @escaping @Sendable (UInt64, UInt64) -> Void) async throws {
  let showing = Task { for await case .downloading(let received, let size) in packs.status(of: id) { show(received, size) } }
  defer { showing.cancel() }
  try await packs.ensure(id)
}

// task: several, and by tag
func ensureLevel(in packs: PackLibrary) async throws -> TagAccess {
  try await packs.ensure(["engine", "sounds"])
  return try await TagRequest(["level-1"], of: packs).begin()
}

// task: read a file, a directory of a model
func model(in packs: PackLibrary) async throws -> (labels: Data, weights: URL, compiled: URL) {
  let labels = try packs.data("model", "labels.json")
  let weights = try await packs.file("model", "weights.gguf")
  return (labels, weights, try packs.directory("model").appendingPathComponent("Detector.mlmodelc"))
}

// task: cancel, remove and free space
func free(_ packs: PackLibrary) async throws {
  try await packs.cancel("game-chess")
  try await packs.remove("game-puzzle")
  _ = try await packs.store.purge(toFree: 1_000_000_000)
}

// task: add a key
func add(_ text: String) throws {
  try KeychainKeys(service: "com.example.arcade").add(PackKey(text: Array(text.utf8)))
}

// task: a list in SwiftUI
struct Packs: View {
  @ObservedObject var packs: PublishedLibrary
  var body: some View {
    List(packs.offers) { pack in
      Button(pack.name) { Task { await packs.ensure(pack.id) } }
    }
  }
}

#if !os(tvOS)
  // task: play in a web view
  @MainActor func play(_ packs: PackLibrary) -> PackWebPage {
    let page = PackWebPage(of: "game-puzzle", from: PackSchemeHandler(store: packs.store), isInspectable: false)
    page.load()
    return page
  }
#endif

// task: preview and test with doubles
@MainActor func preview() -> Packs {
  Packs(
    packs: PublishedLibrary(
      PreviewPacks([.init(id: "a", name: "A", downloadSize: 3, installSize: 9, status: .downloading(received: 1, of: 3))])))
}

// task: only Wi-Fi, with header fields
func openOverWiFi(token: String) async throws -> PackLibrary {
  var options = PackLibrary.Options()
  options.transport.request = { address in
    var request = URLRequest(url: address)
    request.allowsExpensiveNetworkAccess = false
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    return request
  }
  return try await PackLibrary(
    group: "group.com.example.arcade", manifest: address, trusting: ["pkp1-…"], keys: .keychain("com.example.arcade"), options: options)
}
