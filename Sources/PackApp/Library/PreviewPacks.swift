public import Foundation

/// Packs in memory, for SwiftUI previews and for tests of an app's code. There is no network, no file and no waiting.
///
/// ```swift
/// PackList(packs: PublishedLibrary(PreviewPacks([
///   .init(id: "puzzle", name: "Puzzle", downloadSize: 3_000_000, installSize: 9_000_000, status: .downloading(received: 1, of: 3))
/// ])))
/// ```
public final class PreviewPacks: PackProviding {
  private let state: Monitor<[PackLibrary.Offer]>
  private let files: [String: [String: Data]]
  private let directories: [String: URL]
  private let changes = EventHub<PackLibrary.Offer>(bufferedCount: 256)

  /// Creates packs.
  ///
  /// - Parameters:
  ///   - offers: The packs, with the status of each at the start. Two with one id are a programming error.
  ///   - files: The files of packs: the content by path, by id of the pack.
  ///   - directories: The directories of packs that are kept unpacked, by id of the pack.
  public init(_ offers: [PackLibrary.Offer], files: [String: [String: Data]] = [:], directories: [String: URL] = [:]) {
    precondition(Set(offers.map(\.id)).count == offers.count, "two packs have one id")
    state = Monitor(offers)
    self.files = files
    self.directories = directories
  }

  /// Changes the status of a pack, as a download or a failure does. Does nothing if there is no such pack.
  public func set(_ status: PackLibrary.Status, of id: String) {
    let changed = state.withLock { offers -> PackLibrary.Offer? in
      guard let index = offers.firstIndex(where: { $0.id == id }) else { return nil }
      offers[index].status = status
      return offers[index]
    }
    if let changed { changes.tell(changed) }
  }

  /// Makes a pack ready, in version 1 unless it is ready already.
  ///
  /// - Throws: ``PackError/Code/unknownPack``, or the error of a pack whose status is ``PackLibrary/Status/failed(_:)``, unless it was cancelled.
  public func ensure(_ id: String) async throws(PackError) {
    switch try status(id) {
    case .ready: break
    case .failed(let error) where error.code != .cancelled: throw error
    default: set(.ready(version: 1, update: nil), of: id)
    }
  }

  /// As ``ensure(_:)-(String)``.
  public func play(_ id: String) async throws(PackError) { try await ensure(id) }

  /// Makes packs ready, in order, until one of them fails.
  public func ensure(_ ids: some Collection<String>) async throws(PackError) {
    for id in ids { try await ensure(id) }
  }

  /// Returns the status now, if there is such a pack, and then each change of it.
  public func status(of id: String) -> AsyncStream<PackLibrary.Status> {
    let changes = changes.listen()
    let now = try? status(id)
    return Self.stream(now, then: changes) { $0.id == id ? $0.status : nil }
  }

  /// Returns the packs. All are known.
  public func offers() async -> PackLibrary.Offers { PackLibrary.Offers(packs: list, isComplete: true) }

  /// Returns the packs now, and then after each change.
  public func lists() -> AsyncStream<[PackLibrary.Offer]> {
    let changes = changes.listen()
    return Self.stream(list, then: changes) { [weak self] _ in self?.list }
  }

  /// Changes nothing.
  @discardableResult
  public func refresh() async throws(PackError) -> Bool { false }

  /// Lets a pack that is not ready have failed as cancelled.
  public func cancel(_ id: String) async throws(PackError) {
    if case .ready = try status(id) { return }
    set(.failed(PackError(.cancelled, "the download of pack '\(printable(id.utf8))' was cancelled")), of: id)
  }

  /// Makes a pack absent.
  public func remove(_ id: String) async throws(PackError) {
    _ = try status(id)
    set(.absent, of: id)
  }

  /// Returns the content of a file.
  ///
  /// - Throws: ``PackError/Code/notInstalled`` if the pack is not ready, ``PackError/Code/noSuchEntry``, ``PackError/Code/rangeNotSatisfiable``
  public func data(_ id: String, _ path: String, range: Range<UInt64>?) throws(PackError) -> Data {
    try checkReady(id)
    guard let content = files[id]?[path] else { throw PackError(.noSuchEntry, "there is no file '\(printable(path.utf8))'") }
    guard let range else { return content }
    guard range.upperBound <= content.count else {
      throw PackError(.rangeNotSatisfiable, "'\(printable(path.utf8))' has \(content.count) bytes, and none up to \(range.upperBound)")
    }
    return Data(content.dropFirst(Int(range.lowerBound)).prefix(range.count))
  }

  /// Returns the directory of a pack.
  ///
  /// - Throws: ``PackError/Code/notInstalled`` if the pack is not ready, ``PackError/Code/usage`` if it was given none.
  public func directory(_ id: String) throws(PackError) -> URL {
    try checkReady(id)
    guard let directory = directories[id] else { throw .noDirectory(of: id, advice: "give it a directory in the initializer") }
    return directory
  }

  private func checkReady(_ id: String) throws(PackError) {
    guard case .ready = try status(id) else {
      throw PackError(.notInstalled, "pack '\(printable(id.utf8))' is not ready", advice: .install)
    }
  }

  private var list: [PackLibrary.Offer] { state.withLock { $0 } }

  private func status(_ id: String) throws(PackError) -> PackLibrary.Status {
    guard let offer = list.first(where: { $0.id == id }) else {
      throw PackError(.unknownPack, "there is no pack '\(printable(id.utf8))'")
    }
    return offer.status
  }

  private static func stream<Value: Sendable>(
    _ first: Value?, then changes: AsyncStream<PackLibrary.Offer>, _ value: @escaping @Sendable (PackLibrary.Offer) -> Value?
  ) -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(16))
    if let first { continuation.yield(first) }
    let task = Task {
      for await change in changes { if let value = value(change) { continuation.yield(value) } }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }
}
