/// Asks the user before large downloads, as App Review 4.2.3 demands.
///
/// Downloads that the library is about to begin are put together. If those that were not agreed to take more bytes than ``limit``, they wait for the
/// answer, and nothing else does. A download that was agreed to is not asked about again in this process, whatever interrupts it.
///
/// What the system downloads with the app, before its first launch, and what the downloader extension begins is not asked about.
public struct DownloadConsent: Sendable {
  /// The number of bytes up to which nothing is asked.
  public let limit: UInt64
  let ask: @Sendable (DownloadQuestion) async -> Bool

  /// - Parameters:
  ///   - limit: The number of bytes up to which nothing is asked.
  ///   - ask: Returns whether the downloads may begin. Called for one question at a time, on any task. It may take as long as the user does. If it returns
  ///     false, the downloads count as cancelled: ``PackLibrary/ensure(_:)-(String)`` throws ``PackError/Code/cancelled``, and another call asks again.
  public init(above limit: UInt64, ask: @escaping @Sendable (DownloadQuestion) async -> Bool) {
    self.limit = limit
    self.ask = ask
  }
}

/// The downloads that a user is asked about.
public struct DownloadQuestion: Hashable, Sendable {
  /// The names of the packs.
  public let packs: [String]
  /// The number of bytes to download for all of them.
  public let size: UInt64
}
