/// The asset packs that the system manages for this app: it downloads, updates and keeps them. Each has one pack as its only file.
package protocol AssetPackSystem: Sendable {
  /// Returns the events of all downloads from now on, also of those that the system begins by itself. The stream does not end by itself.
  func updates() -> AsyncStream<AssetPackUpdate>
  /// Returns the asset packs that the system knows of. It asks the server if it knows none yet, or again after ``checkForUpdates()``.
  func list() async throws(PackError) -> [AssetPackEntry]
  /// Returns the status of an asset pack; what the device knows of it if the server does not answer. Begins nothing.
  func status(of id: String) async -> AssetPackStatus
  /// Downloads an asset pack that is not on the device, and returns when it is there. Does not look for updates.
  func bring(_ id: String) async throws(PackError)
  /// Asks the server for new versions, has the system download those of asset packs on the device, and removes those that the server no longer has.
  /// Does not wait for the downloads.
  func checkForUpdates() async throws(PackError) -> (updating: Set<String>, removed: Set<String>)
  /// Removes an asset pack from the device.
  func remove(_ id: String) async throws(PackError)
  /// Sets the language whose asset packs the system brings, or nil for that of the settings; downloads them, and removes those of other languages.
  func setLanguage(_ language: String?) async throws(PackError)
  /// Returns the path of a file in the asset packs on the device, also if there is none. It may be another one the next time.
  func path(of file: String) throws(PackError) -> String
}

/// An asset pack that the server has.
package struct AssetPackEntry: Hashable, Sendable {
  package let id: String
  package let version: UInt64
  /// The number of bytes to download.
  package let downloadSize: UInt64
  /// Whether it is for every language, or for the one that fits the user best.
  package let isForDevice: Bool

  package init(id: String, version: UInt64, downloadSize: UInt64, isForDevice: Bool = true) {
    (self.id, self.version, self.downloadSize, self.isForDevice) = (id, version, downloadSize, isForDevice)
  }
}

/// What the system says of an asset pack. Several may be true at once.
package struct AssetPackStatus: OptionSet, Hashable, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  package static let downloadAvailable = Self(rawValue: 1 << 0)
  package static let updateAvailable = Self(rawValue: 1 << 1)
  package static let upToDate = Self(rawValue: 1 << 2)
  package static let outOfDate = Self(rawValue: 1 << 3)
  /// The server no longer has it.
  package static let obsolete = Self(rawValue: 1 << 4)
  package static let downloading = Self(rawValue: 1 << 5)
  package static let downloaded = Self(rawValue: 1 << 6)

  /// Whether a version of it is on the device. The two others are about that version.
  var isHere: Bool { !isDisjoint(with: [.downloaded, .upToDate, .outOfDate]) }
}

/// An event of a download.
package enum AssetPackUpdate: Sendable {
  /// It began, or continues.
  case began(String)
  case paused(String)
  /// It received bytes: the part that is here, from 0 to 1, and a function that cancels it. Before iOS 26.4 the function may have no effect if a
  /// download of the same asset pack was cancelled before.
  case progress(String, fraction: Double, cancel: @Sendable () -> Void)
  /// The asset pack is on the device in this version.
  case finished(AssetPackEntry)
  case failed(String, PackError)
}
