// The tasks of TenTasks.swift as an app writes them with Apple's managed asset packs, as far as there is a call for them.

import BackgroundAssets
import Foundation
import SwiftUI
import System

// task: open: nothing to do

// task: make usable, with progress in bytes
@available(iOS 26.4, macOS 26.4, tvOS 26.4, visionOS 26.4, *)
func ensureManaged(_ id: String, show: @escaping @Sendable (Int, Int) -> Void) async throws {
  let pack = try await managed(id)
  let showing = Task {
    for await case .downloading(let pack, let progress) in AssetPackManager.shared.statusUpdates(forAssetPackWithID: id) {
      show(Int(Double(pack.downloadSize) * progress.fractionCompleted), pack.downloadSize)
    }
  }
  defer { showing.cancel() }
  try await AssetPackManager.shared.ensureLocalAvailability(of: pack, requireLatestVersion: false)
}

@available(iOS 26.4, macOS 26.4, tvOS 26.4, visionOS 26.4, *)
func managed(_ id: String) async throws -> AssetPack {
  if #available(iOS 27, macOS 27, tvOS 27, visionOS 27, *) {
    guard let pack = try await AssetPackManager.shared.manifest.assetPack(withID: id) else {
      throw ManagedBackgroundAssetsError.assetPackNotFound(withID: id)
    }
    return pack
  } else {
    return try await AssetPackManager.shared.assetPack(withID: id)
  }
}

// task: several, and by tag: there are no tags
@available(iOS 26.4, macOS 26.4, tvOS 26.4, visionOS 26.4, *)
func ensureManagedLevel() async throws {
  try await withThrowingTaskGroup(of: Void.self) { tasks in
    for id in ["engine", "sounds"] {
      tasks.addTask { try await AssetPackManager.shared.ensureLocalAvailability(of: managed(id), requireLatestVersion: false) }
    }
    try await tasks.waitForAll()
  }
}

// task: read a file, a directory of a model
@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
func managedModel() throws -> (labels: Data, weights: URL, compiled: URL) {
  let labels = try AssetPackManager.shared.contents(at: "labels.json")
  let weights = try AssetPackManager.shared.url(for: "weights.gguf")
  return (labels, weights, try AssetPackManager.shared.url(for: "Detector.mlmodelc"))
}

// task: cancel, remove and free space: the system purges by itself
@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
func freeManaged() async throws {
  for await case .downloading(_, let progress) in AssetPackManager.shared.statusUpdates(forAssetPackWithID: "game-chess") {
    progress.cancel()
    break
  }
  try await AssetPackManager.shared.remove(assetPackWithID: "game-puzzle")
}

// task: a list in SwiftUI
@available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
@MainActor final class ManagedList: ObservableObject {
  @Published private(set) var packs: [AssetPack] = []
  @Published var problem: (any Error)?

  @available(iOS 27, macOS 27, tvOS 27, visionOS 27, *)
  func load() async {
    do { packs = try await AssetPackManager.shared.manifest.assetPacks.sorted { $0.id < $1.id } } catch { problem = error }
  }

  @available(iOS 26.4, macOS 26.4, tvOS 26.4, visionOS 26.4, *)
  func ensure(_ pack: AssetPack) async {
    do { try await AssetPackManager.shared.ensureLocalAvailability(of: pack, requireLatestVersion: false) } catch { problem = error }
  }
}

@available(iOS 27, macOS 27, tvOS 27, visionOS 27, *)
struct ManagedPacks: View {
  @ObservedObject var list: ManagedList
  var body: some View {
    List(list.packs) { pack in
      Button(pack.id) { Task { await list.ensure(pack) } }
    }
    .task { await list.load() }
  }
}

// task: add a key; play in a web view; preview and test with doubles; only Wi-Fi, with header fields: no call for it
