public import Foundation

/// What most of an app's code needs of its packs: a ``PackLibrary`` in the app, ``PreviewPacks`` in previews and tests.
public protocol PackProviding: AnyObject, Sendable {
  /// Makes a pack usable; see ``PackLibrary/ensure(_:)-(String)``.
  func ensure(_ id: String) async throws(PackError)
  /// Makes a pack readable while the rest of it arrives; see ``PackLibrary/play(_:)``.
  func play(_ id: String) async throws(PackError)
  /// Makes several packs usable; see ``PackLibrary/ensure(_:)-(Collection<String>)``.
  func ensure(_ ids: some Collection<String>) async throws(PackError)
  /// Returns the status of a pack now, and then each change of it; see ``PackLibrary/status(of:)``.
  func status(of id: String) -> AsyncStream<PackLibrary.Status>
  /// Returns the packs that are offered for this device; see ``PackLibrary/offers()``.
  func offers() async -> PackLibrary.Offers
  /// Returns the packs of ``offers()`` now, and then after each change; see ``PackLibrary/lists()``.
  func lists() -> AsyncStream<[PackLibrary.Offer]>
  /// Asks for a newer list; see ``PackLibrary/refresh()``.
  @discardableResult
  func refresh() async throws(PackError) -> Bool
  /// Cancels the download of a pack; see ``PackLibrary/cancel(_:)``.
  func cancel(_ id: String) async throws(PackError)
  /// Removes a pack from the device; see ``PackLibrary/remove(_:)``.
  func remove(_ id: String) async throws(PackError)
  /// Returns the content of a file, or a part of it; see ``PackLibrary/data(_:_:range:)``.
  func data(_ id: String, _ path: String, range: Range<UInt64>?) throws(PackError) -> Data
  /// Returns the directory of a pack that is kept unpacked; see ``PackLibrary/directory(_:)``.
  func directory(_ id: String) throws(PackError) -> URL
}

extension PackProviding {
  /// Returns the content of a file; see ``PackLibrary/data(_:_:range:)``.
  public func data(_ id: String, _ path: String) throws(PackError) -> Data { try data(id, path, range: nil) }
}

extension PackLibrary: PackProviding {}

extension PackError {
  static func noDirectory(of id: String, advice: String) -> PackError {
    PackError(.usage, "pack '\(printable(id.utf8))' is kept encrypted, and has no directory", advice: .developer(advice))
  }
}
