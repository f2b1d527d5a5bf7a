/// The record of one pack in a store. A plain value that accesses no file.
package struct PackRecord: Hashable, Sendable {
  /// The bytes of a version. The same version may be published with other bytes later.
  package struct Bytes: Hashable, Sendable {
    var version: UInt64
    /// The SHA-256 of the pack file.
    var sha256: [UInt8]
  }

  /// A version that is installed on the device.
  struct Content: Hashable, Sendable {
    var bytes: Bytes
    var mode: InstallMode
    /// The size of the pack file in bytes if it is kept encrypted, or the sum of the file sizes if it was unpacked.
    var size: UInt64
    /// The number of bytes it takes on the device.
    var sizeOnDevice: UInt64
    /// The content root of the tree. Nil if it is kept encrypted, and its record was rebuilt without an entry of a manifest.
    var contentRoot: [UInt8]?
    /// Whether the version was confirmed, or activated without a trial.
    var isProven: Bool
    /// The SHA-256 of the pack file that the store made by a delta. Nil if it is the published one.
    var rewritten: [UInt8]?
    /// Files of an unpacked version that are also files of other versions of the record. They count there.
    var links: [Link] = []
  }

  /// Files that two unpacked versions have under two names.
  struct Link: Hashable, Sendable {
    /// The other version.
    var bytes: Bytes
    /// What the files take on the device, in bytes.
    var size: UInt64
  }

  /// The trial of a version, which runs until it is confirmed or fails.
  struct Trial: Hashable, Sendable {
    var bytes: Bytes
    /// A random value that is unique to this trial, 16 bytes.
    var nonce: [UInt8]
    /// The session name of the process that runs it.
    var session: String
    /// The number of processes that have run it.
    var starts: UInt64
  }

  /// A version that failed.
  struct Failure: Hashable, Sendable {
    var bytes: Bytes
    var reason: String
  }

  let id: String
  var contents: [Content] = []
  /// The version that runs if none is on trial.
  var current: Bytes?
  /// The nonce of the token that confirmed ``current``.
  var confirmed: [UInt8]?
  var trial: Trial?
  /// The failed versions, oldest first.
  var failures: [Failure] = []
  /// The version that was purged, or went missing, while it was current.
  var purged: Bytes?
  /// The delivery class in the manifest that the pack was installed from.
  var delivery: DeliveryClass?
  /// The preservation priority in millionths. Nil if none was set for the pack.
  var preservation: UInt64?
  /// The time when the pack was last opened, in seconds since 1970, to within ``lastUseGrain``.
  var lastUse: UInt64 = 0

  init(id: String) {
    self.id = id
  }

  /// The maximum number of failures recorded for one pack: far more than the number of failing versions that are published in a row.
  static let failureLimit = 16
  /// The maximum length of a reason, in bytes.
  static let reasonLimit = 200
  /// The precision of ``lastUse``, in seconds. It is coarse because each change of the time is a write.
  static let lastUseGrain: UInt64 = 600
  /// The maximum number of installed versions of one pack. Only versions that are all in use can reach it.
  static let contentLimit = 64

  /// Whether the record contains nothing that must be kept.
  var isEmpty: Bool { contents.isEmpty && failures.isEmpty && purged == nil && preservation == nil }

  /// The running version: the version on trial, otherwise the current one.
  var running: Content? { (trial?.bytes ?? current).flatMap(content) }

  func content(_ bytes: Bytes) -> Content? { contents.first { $0.bytes == bytes } }

  func hasFailed(_ bytes: Bytes) -> Bool { failures.contains { $0.bytes == bytes } }

  /// Returns the name in `packs` of a version's file or tree.
  func itemName(_ content: Content) -> String {
    ItemName(id: id, version: content.bytes.version, sha256: content.bytes.sha256, mode: content.mode, rewritten: content.rewritten).text
  }

  var itemNames: Set<String> { Set(contents.map(itemName)) }

  /// Returns what a version shares with other versions, in bytes on the device.
  ///
  /// - Parameter gone: Versions that do not count.
  func sharedSize(_ content: Content, without gone: Set<Bytes> = []) -> UInt64 {
    let own = content.links.filter { !gone.contains($0.bytes) }
    let others = contents.filter { !gone.contains($0.bytes) }.flatMap(\.links).filter { $0.bytes == content.bytes }
    return (own + others).reduce(0) { $0.adding($1.size) }
  }

  func state(of content: Content) -> InstalledPack.State {
    if content.bytes == trial?.bytes { return .trial }
    if content.bytes == current { return trial == nil ? .current : .fallback }
    if hasFailed(content.bytes) { return .failed }
    return content.isProven ? .kept : .installed
  }

  // MARK: Changes

  /// Records bytes as failed. If they were running, the previous version runs again.
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

  /// If no version is current, makes the newest proven version that has not failed the current one.
  mutating func fallBack() {
    guard current == nil else { return }
    current = contents.filter { $0.isProven && !hasFailed($0.bytes) }.max { $0.bytes.version < $1.bytes.version }?.bytes
  }

  /// Makes a version the current one and ends any trial.
  mutating func settle(on bytes: Bytes, nonce: [UInt8]) {
    current = bytes
    confirmed = nonce
    trial = nil
    purged = nil
    if let index = contents.firstIndex(where: { $0.bytes == bytes }) { contents[index].isProven = true }
  }

  /// Removes the content of a version. What other versions share with it counts there from now on.
  mutating func removeContent(_ bytes: Bytes) {
    contents.removeAll { $0.bytes == bytes }
    for index in contents.indices {
      for link in contents[index].links where link.bytes == bytes {
        contents[index].sizeOnDevice = contents[index].sizeOnDevice.adding(link.size)
      }
      contents[index].links.removeAll { $0.bytes == bytes }
    }
  }

  /// Removes a version from the record.
  mutating func forget(_ bytes: Bytes) {
    removeContent(bytes)
    if trial?.bytes == bytes { trial = nil }
    if current == bytes {
      current = nil
      confirmed = nil
    }
  }

  /// Decides a trial whose process has ended: if it has starts left, it continues in `session`, otherwise it has failed.
  ///
  /// - Returns: The outcome. Nil if nothing changed.
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

  /// Returns the versions that are no longer needed: failed versions, and versions beyond `count`.
  ///
  /// Of the versions that are newer than the current one and wait to be activated, only the newest is kept, or none if a newer one is about to be
  /// installed. If no version was activated yet, the newest `count` are kept.
  ///
  /// - Parameter successor: A newer version that is about to be installed.
  func surplus(keeping count: Int, before successor: Bytes? = nil) -> [Content] {
    guard trial == nil else { return contents.filter { hasFailed($0.bytes) && $0.bytes != current } }
    var others = contents.filter { $0.bytes != current }
    var gone = others.filter { hasFailed($0.bytes) }
    others.removeAll { hasFailed($0.bytes) }
    guard let current else {
      return gone + others.sorted { ($0.isProven ? 1 : 0, $0.bytes.version) > ($1.isProven ? 1 : 0, $1.bytes.version) }.dropFirst(count)
    }
    let proven = others.filter(\.isProven).sorted { $0.bytes.version > $1.bytes.version }
    gone += proven.dropFirst(max(0, count - 1))
    let waiting = others.filter { !$0.isProven }
    let newest = successor?.version ?? waiting.map(\.bytes.version).max()
    gone += waiting.filter { $0.bytes.version < current.version || $0.bytes.version != newest }
    return gone
  }

  /// Shortens a text to ``reasonLimit`` bytes without cutting a character.
  private static func shortened(_ text: String) -> String {
    var result = text
    while result.utf8.count > reasonLimit { result.removeLast() }
    return result
  }
}
