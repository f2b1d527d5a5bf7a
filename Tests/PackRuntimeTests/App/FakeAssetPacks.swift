@_spi(Fake) import AppleValues
import Foundation
import TestSupport
import Testing

@testable import PackApp

/// The system's asset packs as Apple documents them. Those on the device are files in one directory.
final class FakeAssetPacks: AssetPackSystem {
  /// Its constant exists only on Apple platforms.
  static let systemRefused = PackError.Code(rawValue: "system-refused")
  let model = AssetPackModel()
  /// The directory with the files of all asset packs.
  let directory: String
  private let files = Monitor<[String: [Int: String]]>([:])
  private let chosen = Monitor<String?>(nil)

  init(_ stage: StoreStage) throws {
    directory = stage.directory("assets")
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    model.onChange { [directory, files] id, version in
      let place = "\(directory)/\(AssetPackFile.name(of: id))"
      guard let version else { return try! FileManager.default.removeItem(atPath: place) }
      guard let file = files.withLock({ $0[id]?[version] }) else { return }
      try! FileManager.default.copyItem(atPath: file, toPath: "\(place).new")
      precondition(rename("\(place).new", place) == 0)
    }
  }

  /// Puts a pack on the server.
  ///
  /// - Parameter id: The name of the asset pack, if it is not that of the pack.
  func publish(_ offer: StoreStage.Offer, as id: String? = nil, language: String? = nil) {
    let id = id ?? offer.entry.id
    files.withLock { $0[id, default: [:]][Int(offer.entry.version)] = offer.path }
    model.publish(.init(id: id, version: Int(offer.entry.version), downloadSize: Int(offer.entry.size), language: language))
  }

  /// Lets the system complete the download of an asset pack, as soon as it has one.
  func deliver(_ id: String) async throws {
    try await eventually("\(id) is not downloaded") { model.isDownloading(id) }
    model.begin(id)
    model.finish(id)
  }

  private static func error(_ error: any Error) -> PackError {
    switch error as? AssetPackModel.Failure {
    case .notFound(let id): AssetPackLoop.unknown(id)
    case .offline: PackError(.offline, "there is no network", advice: .connect)
    case .cancelled: PackError(.cancelled, "cancelled")
    case .noSpace: PackError(.noSpace, "there is no space", advice: .freeSpace(bytes: nil))
    case .refused, nil: PackError(Self.systemRefused, "the system refused it")
    }
  }

  private func result<Value>(_ body: () throws -> Value) throws(PackError) -> Value {
    do { return try body() } catch { throw Self.error(error) }
  }

  private func entry(_ listed: AssetPackModel.Listed) -> AssetPackEntry {
    let language = chosen.withLock { $0 } ?? "en"
    return AssetPackEntry(
      id: listed.id, version: UInt64(listed.version), downloadSize: UInt64(listed.downloadSize),
      isForDevice: listed.language == nil || listed.language == language)
  }

  // MARK: The protocol

  func updates() -> AsyncStream<AssetPackUpdate> {
    let events = model.events()
    let (stream, continuation) = AsyncStream.makeStream(of: AssetPackUpdate.self)
    let task = Task {
      for await event in events {
        let update: AssetPackUpdate =
          switch event {
          case .began(let listed): .began(listed.id)
          case .paused(let listed): .paused(listed.id)
          case .downloading(let listed, let fraction, let cancel): .progress(listed.id, fraction: fraction, cancel: cancel)
          case .finished(let listed): .finished(self.entry(listed))
          case .failed(let listed, let failure): .failed(listed.id, Self.error(failure))
          }
        continuation.yield(update)
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  func list() async throws(PackError) -> [AssetPackEntry] { try result { try model.list().map(entry) } }

  func status(of id: String) async -> AssetPackStatus {
    AssetPackStatus(rawValue: (try? model.status(id)) ?? model.localStatus(id))
  }

  func bring(_ id: String) async throws(PackError) {
    do { try await model.ensure(id) } catch { throw Self.error(error) }
  }

  func checkForUpdates() async throws(PackError) -> (updating: Set<String>, removed: Set<String>) {
    try result { try model.checkForUpdates() }
  }

  func remove(_ id: String) async throws(PackError) { model.remove(id) }

  func setLanguage(_ language: String?) async throws(PackError) { chosen.withLock { $0 = language } }

  func path(of file: String) throws(PackError) -> String { "\(directory)/\(file)" }
}
