import PackRuntime
import SwiftUI

/// The games that the manifest names, and what of them is on the device.
@MainActor
final class Games: ObservableObject {
  /// One game.
  struct Game: Identifiable {
    let id: String
    let name: String
    let description: String
    /// The bytes to download where this version is not installed.
    let downloadSize: UInt64?
    /// What would be played.
    let current: InstalledPack?
    /// Whether something is installed that could be played.
    let isInstalled: Bool
  }

  @Published private(set) var games: [Game] = []
  /// What is being done, by game.
  @Published private(set) var work: [String: String] = [:]
  @Published var problem: Problem?
  private(set) var store: AssetStore?

  /// What went wrong, for a person.
  struct Problem: Identifiable {
    let id = UUID()
    let text: String

    init(_ error: any Error) {
      let error = error as? PackError
      text = error.map { [$0.message, $0.hint].compactMap { $0 }.joined(separator: "\n") } ?? "The network did not answer."
    }

    init(_ text: String) { self.text = text }
  }

  /// Opens the store and sets right what the last run left, before anything of it is used.
  func open() async {
    guard store == nil else { return }
    do {
      try Publisher.addDevelopmentKey()
      // Not in Caches, which the system empties. The store itself keeps packs out of the backup.
      let support = try FileManager.default.url(for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
      let store = try await AssetStore(
        root: support.appendingPathComponent("packs").path, keys: Publisher.keys, trusting: [SigningPublicKey(text: Publisher.publicKey)])
      for finding in try await store.reconcile() { print("store: \(finding)") }
      self.store = store
      // Without a network there is what was there.
      await show()
      await update()
    } catch {
      problem = Problem(error)
    }
  }

  /// Fetches the manifest. Whatever is wrong with it, the last good one stays.
  func update() async {
    guard let store else { return }
    do {
      let (data, response) = try await URLSession.shared.data(from: Publisher.manifestAddress)
      try Self.check(response)
      try await store.adopt(SignedManifest([UInt8](data)))
    } catch {
      problem = Problem(error)
    }
    await show()
  }

  /// Downloads a game and installs it. It stays encrypted; nothing of it is unpacked.
  func install(_ id: String) async {
    guard let store, work[id] == nil else { return }
    defer { work[id] = nil }
    do {
      guard let pack = try await store.plan().downloads.first(where: { $0.id == id }), let address = URL(string: pack.url) else { return }
      work[id] = "Downloading"
      let (file, response) = try await URLSession.shared.download(from: address)
      try Self.check(response)
      work[id] = "Checking"
      // Whatever came, it is installed only if it is the file that the signed manifest names.
      try await store.install(file.path, as: id, taking: .moving, mode: .packed)
    } catch {
      problem = Problem(error)
    }
    await show()
  }

  /// Removes a game. What it saved stays: that belongs to its origin in the web view.
  func remove(_ id: String) async {
    do {
      try await store?.remove(id)
    } catch {
      problem = Problem(error)
    }
    await show()
  }

  /// Reads what there is.
  func show() async {
    guard let store, let manifest = await store.manifest?.manifest else { return }
    do {
      let downloads = Set(try await store.plan().downloads.map(\.id))
      let installed = Set(try await store.installed().filter { $0.state != .failed }.map(\.id))
      var games: [Game] = []
      for pack in manifest.packs {
        games.append(
          Game(
            id: pack.id, name: pack.name.isEmpty ? pack.id : pack.name, description: pack.description,
            downloadSize: downloads.contains(pack.id) ? pack.size : nil, current: try await store.current(pack.id),
            isInstalled: installed.contains(pack.id)))
      }
      self.games = games
    } catch {
      problem = Problem(error)
    }
  }

  private static func check(_ response: URLResponse) throws {
    guard let response = response as? HTTPURLResponse, response.statusCode == 200 else { throw URLError(.badServerResponse) }
  }
}
