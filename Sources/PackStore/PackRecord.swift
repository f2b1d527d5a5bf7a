import PackFormat
import PackManifest

/// What a store knows of one pack. A plain value: nothing in here touches a file.
package struct PackRecord: Hashable, Sendable {
  /// Which bytes are meant: a version may come with other bytes later.
  package struct Bytes: Hashable, Sendable {
    var version: UInt64
    /// The SHA-256 of the pack file.
    var sha256: [UInt8]
  }

  /// A version that is on the device, whole.
  struct Content: Hashable, Sendable {
    var bytes: Bytes
    var mode: InstallMode
    /// The size of the pack file in bytes where it is kept, the sum of the files of the tree where it was unpacked.
    var size: UInt64
    /// What it takes on the device in bytes.
    var sizeOnDevice: UInt64
    /// The digest that names the tree, where it was unpacked.
    var contentRoot: [UInt8]?
    /// Whether it was confirmed, or activated without a trial.
    var isProven: Bool
  }

  /// A version that runs until it is confirmed or falls.
  struct Trial: Hashable, Sendable {
    var bytes: Bytes
    /// What tells this trial from others, 16 bytes.
    var nonce: [UInt8]
    /// The process that runs it.
    var session: String
    /// How many processes have run it.
    var starts: UInt64
  }

  /// A version that failed.
  struct Failure: Hashable, Sendable {
    var bytes: Bytes
    var reason: String
  }

  let id: String
  var contents: [Content] = []
  /// What runs, unless something is on trial.
  var current: Bytes?
  /// The nonce of the token that was good for ``current``.
  var confirmed: [UInt8]?
  var trial: Trial?
  /// What failed, oldest first.
  var failures: [Failure] = []
  /// What was current when it was purged.
  var purged: Bytes?
  /// How the pack was to be delivered by the manifest it was installed by.
  var delivery: DeliveryClass?
  /// How dear the pack is in millionths, where that was said.
  var preservation: UInt64?
  /// When it was opened last, in seconds since 1970, to within ``lastUseGrain``.
  var lastUse: UInt64 = 0

  init(id: String) {
    self.id = id
  }

  /// The most failures that are remembered of one pack: far more than anybody publishes of one pack in a row.
  static let failureLimit = 16
  /// The longest reason, in bytes.
  static let reasonLimit = 200
  /// How exact the time of the last use is, in seconds: each change of it is a write.
  static let lastUseGrain: UInt64 = 600
  /// The most versions of one pack. More come together only where each is in use.
  static let contentLimit = 64

  /// Whether nothing is known that must be remembered.
  var isEmpty: Bool { contents.isEmpty && failures.isEmpty && purged == nil && preservation == nil }

  /// What runs: the version on trial, or else the current one.
  var running: Content? { (trial?.bytes ?? current).flatMap(content) }

  func content(_ bytes: Bytes) -> Content? { contents.first { $0.bytes == bytes } }

  func hasFailed(_ bytes: Bytes) -> Bool { failures.contains { $0.bytes == bytes } }

  func itemName(_ content: Content) -> String {
    ItemName(id: id, version: content.bytes.version, sha256: content.bytes.sha256, mode: content.mode).text
  }

  var itemNames: Set<String> { Set(contents.map(itemName)) }

  func state(of content: Content) -> InstalledPack.State {
    if content.bytes == trial?.bytes { return .trial }
    if content.bytes == current { return trial == nil ? .current : .fallback }
    if hasFailed(content.bytes) { return .failed }
    return content.isProven ? .kept : .installed
  }

  // MARK: Changes

  /// Remembers bytes as failed, and has what was there before run if they ran.
  mutating func fail(_ bytes: Bytes, reason: String) {
    if trial?.bytes == bytes { trial = nil }
    if current == bytes {
      current = nil
      confirmed = nil
    }
    failures.removeAll { $0.bytes == bytes }
    failures.append(Failure(bytes: bytes, reason: Self.shortened(reason)))
    failures.removeFirst(max(0, failures.count - Self.failureLimit))
    fallBack()
  }

  /// Where nothing is current: makes the newest version current that was and that did not fail.
  mutating func fallBack() {
    guard current == nil else { return }
    current = contents.filter { $0.isProven && !hasFailed($0.bytes) }.max { $0.bytes.version < $1.bytes.version }?.bytes
  }

  /// Makes what is on trial, or these bytes, the current ones.
  mutating func settle(on bytes: Bytes, nonce: [UInt8]) {
    current = bytes
    confirmed = nonce
    trial = nil
    purged = nil
    if let index = contents.firstIndex(where: { $0.bytes == bytes }) { contents[index].isProven = true }
  }

  /// Forgets a version.
  mutating func forget(_ bytes: Bytes) {
    contents.removeAll { $0.bytes == bytes }
    if trial?.bytes == bytes { trial = nil }
    if current == bytes {
      current = nil
      confirmed = nil
    }
  }

  /// Judges a trial whose process has ended: another start for `session` where there is one left, else it failed.
  ///
  /// - Returns: what became of it; nil where nothing changed.
  mutating func judgeTrial(by session: String, starts limit: Int, isAlive: (String) -> Bool) -> TrialVerdict? {
    guard var trial, trial.session != session, !isAlive(trial.session) else { return nil }
    guard trial.starts < UInt64(max(1, limit)) else {
      fail(trial.bytes, reason: "its process ended before it was confirmed")
      return .failed(trial.bytes.version)
    }
    trial.starts += 1
    trial.session = session
    self.trial = trial
    return .continued(trial.bytes.version, start: trial.starts)
  }

  enum TrialVerdict: Hashable, Sendable {
    case failed(UInt64)
    case continued(UInt64, start: UInt64)
  }

  /// Which versions may go without anybody missing them: those that failed, and those that are more than are kept. What is newer than the current
  /// version waits to be activated, the newest of it.
  func surplus(keeping count: Int) -> [Content] {
    guard trial == nil else { return contents.filter { hasFailed($0.bytes) && $0.bytes != current } }
    var others = contents.filter { $0.bytes != current }
    var gone = others.filter { hasFailed($0.bytes) }
    others.removeAll { hasFailed($0.bytes) }
    guard let current else { return gone }
    let proven = others.filter(\.isProven).sorted { $0.bytes.version > $1.bytes.version }
    gone += proven.dropFirst(max(0, count - 1))
    let waiting = others.filter { !$0.isProven }
    let newest = waiting.map(\.bytes.version).max()
    gone += waiting.filter { $0.bytes.version < current.version || $0.bytes.version != newest }
    return gone
  }

  /// As much of a text as fits, with no character cut.
  private static func shortened(_ text: String) -> String {
    var result = text
    while result.utf8.count > reasonLimit { result.removeLast() }
    return result
  }
}
