import Combine
import Foundation
import PackBackgroundApp
import PackRuntime
import SwiftUI

/// The games of the manifest, and their state on the device.
@MainActor
final class Games: ObservableObject {
  /// One game.
  struct Game: Identifiable {
    let id: String
    let name: String
    let description: String
    /// The bytes to download if this version is not installed, otherwise nil.
    let downloadSize: UInt64?
    /// The version that would be played.
    let current: InstalledPack?
    /// Whether a playable version is installed.
    let isInstalled: Bool
  }

  @Published private(set) var games: [Game] = []
  /// The current activity of each game.
  @Published private(set) var work: [String: String] = [:]
  @Published var problem: Problem?
  private(set) var store: AssetStore?

  /// An error for people.
  struct Problem: Identifiable {
    let id = UUID()
    let text: String

    init(_ error: any Error) {
      let error = error as? PackError
      text =
        error.map { [$0.message, Self.step(for: $0.advice)].compactMap { $0 }.joined(separator: "\n") } ?? "The server did not respond."
    }

    /// What the player can do. Most advice is for the app or the publisher of the packs, not for players.
    private static func step(for advice: PackError.Advice?) -> String? {
      switch advice {
      case .freeSpace(let bytes?): "Free \(bytes / 1_000_000 + 1) MB and try again."
      case .connect: "Connect to the internet and try again."
      case .checkClock, .renewManifest: "Check the date and time in Settings."
      case .updateApp: "Update the app."
      case .fetchAgain, .fetchManifestAgain, .tryAgain: "Please try again."
      default: nil
      }
    }

    init(_ text: String) { self.text = text }
  }

  private var delivery: AppDelivery?
  private var downloads: BackgroundDownloads?
  private var listening: Task<Void, Never>?

  /// Opens the store, cleans up after the last run, and installs packs that the extension downloaded.
  func open() async {
    guard store == nil else { return }
    do {
      try Keys.addDevelopmentKey()
      // Not in Caches, which the system empties. The store excludes its packs from backups.
      let support = try FileManager.default.url(for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
      let store = try await AssetStore(
        root: support.appendingPathComponent("packs").path, keys: Keys.provider, trusting: [SigningPublicKey(text: Publisher.publicKey)],
        logger: Deliveries.logger)
      let delivery = AppDelivery(state: try Deliveries.state(), store: store, isForDevice: Publisher.isForDevice)
      let downloads = BackgroundDownloads(group: Publisher.group, state: delivery.state, logger: Deliveries.logger)
      // From here on the system notifies the app and no longer starts the extension.
      let events = downloads.events()
      downloads.listen()
      listening = Task { [weak self] in
        for await event in events { await self?.take(event) }
      }
      _ = try await delivery.start()
      (self.store, self.delivery, self.downloads) = (store, delivery, downloads)
      // Works without a network, with the packs that are already on the device.
      await bring()
      await update()
    } catch {
      problem = Problem(error)
    }
  }

  /// Fetches the manifest. If it is not valid, the last valid one stays.
  func update() async {
    guard let delivery else { return }
    do {
      guard let text = Bundle.main.object(forInfoDictionaryKey: "BAManifestURL") as? String, let address = URL(string: text) else {
        problem = Problem("The app's Info.plist has no BAManifestURL.")
        return
      }
      let (data, response) = try await URLSession.shared.data(from: address)
      try Self.check(response)
      try await delivery.adopt([UInt8](data))
    } catch {
      problem = Problem(error)
    }
    await bring()
  }

  /// Plans, installs waiting packs, and hands missing downloads to the system. Packs stay encrypted and are not unpacked.
  private func bring(_ asked: Set<String> = []) async {
    guard let delivery, let downloads, await delivery.store.manifest != nil else { return await show() }
    do {
      let plan = try await delivery.plan(asked: asked, downloads: await downloads.current())
      for file in plan.handOver { work[file.id] = "Checking" }
      for installation in try await delivery.install(plan) {
        work[installation.id] = nil
        if let failure = installation.failure { problem = Problem(failure) }
      }
      let handed = await downloads.hand(plan)
      for identifier in handed.scheduled + handed.started { work[Self.name(identifier)] = "Waiting" }
      for identifier in handed.refused.keys where asked.contains(Self.name(identifier)) {
        problem = Problem("The system cannot download this now. The app tries again later.")
      }
      _ = try await delivery.tidy(plan)
    } catch {
      problem = Problem(error)
    }
    await show()
  }

  /// Handles an event of the system.
  private func take(_ event: BackgroundEvent) async {
    switch event {
    case .began(let download): work[Self.name(download)] = "Downloading"
    case .paused(let download): work[Self.name(download)] = "Paused"
    case .progress(let download, let received, let size):
      work[Self.name(download)] = "Downloading \(size == 0 ? 0 : received * 100 / size) %"
    case .arrived:
      await bring()
    case .failed(let download, _, let remedy):
      // The next plan, or the system, tries it again.
      work[Self.name(download)] = remedy == .handOverAsNonEssential ? "Waiting" : nil
    case .manifestFailed: break
    case .refused(let error): problem = Problem(error)
    }
  }

  private static func name(_ download: String) -> String { DownloadIdentifier(download)?.id ?? download }

  /// Downloads a game and installs it. The player waits for it, so the download starts at once.
  func install(_ id: String) async {
    await bring([id])
  }

  /// Cancels the download of a game.
  func cancel(_ id: String) async {
    do {
      try await downloads?.cancel(id)
    } catch {
      problem = Problem(error)
    }
    work[id] = nil
    await show()
  }

  /// Removes a game. Its saved data stays: it belongs to its origin in the web view.
  func remove(_ id: String) async {
    guard let delivery, let downloads else { return }
    do {
      try await delivery.store.remove(id)
      // The next plan would download it again, as after the system freed space. So its download is cancelled until the player requests it.
      _ = await downloads.hand(try await delivery.plan(downloads: await downloads.current()))
      try await downloads.cancel(id)
    } catch {
      problem = Problem(error)
    }
    work[id] = nil
    await show()
  }

  /// Reads the state of all games.
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
