/// The record of one pack in a store. A plain value that accesses no file.
package struct PackRecord: Hashable, Sendable {
  /// The bytes of a version. The same version may be published with other bytes later.
  package struct Bytes: Hashable, Sendable {
    package var version: UInt64
    /// The SHA-256 of the pack file.
    package var sha256: [UInt8]

    package init(version: UInt64, sha256: [UInt8]) {
      (self.version, self.sha256) = (version, sha256)
    }
  }

  /// A version that is installed on the device.
  package struct Content: Hashable, Sendable {
    package var bytes: Bytes
    package var mode: InstallMode
    /// The size of the pack file in bytes if it is kept encrypted, or the sum of the file sizes if it was unpacked.
    package var size: UInt64
    /// The number of bytes it takes on the device.
    package var sizeOnDevice: UInt64
    /// The content root of the tree. Nil if it is kept encrypted, and its record was rebuilt without an entry of a manifest.
    package var contentRoot: [UInt8]?
    /// Whether the version was confirmed, or activated without a trial.
    package var isProven: Bool
    /// Whether it is the candidate of a rollout. Nothing falls back to it.
    package var isCandidate = false
    /// The SHA-256 of the pack file that the store made by a delta. Nil if it is the published one.
    package var rewritten: [UInt8]?
    /// The SHA-256 of the opener of an edition that has a key of its own. Nil if the pack's key opens it.
    package var sealedBy: [UInt8]?
    /// The opener. Nil until it is there.
    package var opener: [UInt8]?
    /// Files of an unpacked version that are also files of other versions of the record. They count there.
    package var links: [Link] = []

    /// Whether the version cannot be opened yet.
    package var isSealed: Bool { sealedBy != nil && opener == nil }

    package init(bytes: Bytes, mode: InstallMode, size: UInt64, sizeOnDevice: UInt64, contentRoot: [UInt8]?, isProven: Bool) {
      (self.bytes, self.mode, self.size, self.sizeOnDevice) = (bytes, mode, size, sizeOnDevice)
      (self.contentRoot, self.isProven) = (contentRoot, isProven)
    }
  }

  /// Files that two unpacked versions have under two names.
  package struct Link: Hashable, Sendable {
    /// The other version.
    package var bytes: Bytes
    /// What the files take on the device, in bytes.
    package var size: UInt64

    package init(bytes: Bytes, size: UInt64) {
      (self.bytes, self.size) = (bytes, size)
    }
  }

  /// The trial of a version, which runs until it is confirmed or fails.
  package struct Trial: Hashable, Sendable {
    package var bytes: Bytes
    /// A random value that is unique to this trial, 16 bytes.
    package var nonce: [UInt8]
    /// The session name of the process that runs it.
    package var session: String
    /// The number of processes that have run it.
    package var starts: UInt64

    package init(bytes: Bytes, nonce: [UInt8], session: String, starts: UInt64) {
      (self.bytes, self.nonce, self.session, self.starts) = (bytes, nonce, session, starts)
    }
  }

  /// A version that failed.
  package struct Failure: Hashable, Sendable {
    package var bytes: Bytes
    package var reason: String

    package init(bytes: Bytes, reason: String) {
      (self.bytes, self.reason) = (bytes, reason)
    }
  }

  package let id: String
  package var contents: [Content] = []
  /// The version that runs if none is on trial.
  package var current: Bytes?
  /// The nonce of the token that confirmed ``current``.
  package var confirmed: [UInt8]?
  package var trial: Trial?
  /// The failed versions, oldest first.
  package var failures: [Failure] = []
  /// The version that was purged, or went missing, while it was current.
  package var purged: Bytes?
  /// The delivery class in the manifest that the pack was installed from.
  package var delivery: DeliveryClass?
  /// The preservation priority in millionths. Nil if none was set for the pack.
  package var preservation: UInt64?
  /// The time when the pack was last opened, in seconds since 1970, to within ``lastUseGrain``.
  package var lastUse: UInt64 = 0

  package init(id: String) {
    self.id = id
  }

  /// The maximum number of failures recorded for one pack: far more than the number of failing versions that are published in a row.
  package static let failureLimit = 16
  /// The maximum length of a reason, in bytes.
  package static let reasonLimit = 200
  /// The precision of ``lastUse``, in seconds. It is coarse because each change of the time is a write.
  package static let lastUseGrain: UInt64 = 600
  /// The maximum number of installed versions of one pack. Only versions that are all in use can reach it.
  package static let contentLimit = 64

  /// Whether the record contains nothing that must be kept.
  package var isEmpty: Bool { contents.isEmpty && failures.isEmpty && purged == nil && preservation == nil }

  /// The running version: the version on trial, otherwise the current one.
  package var running: Content? { (trial?.bytes ?? current).flatMap(content) }

  package func content(_ bytes: Bytes) -> Content? { contents.first { $0.bytes == bytes } }

  package func hasFailed(_ bytes: Bytes) -> Bool { failures.contains { $0.bytes == bytes } }

  /// Returns the name in `packs` of a version's file or tree.
  package func itemName(_ content: Content) -> String {
    ItemName(id: id, version: content.bytes.version, sha256: content.bytes.sha256, mode: content.mode, rewritten: content.rewritten).text
  }

  package var itemNames: Set<String> { Set(contents.map(itemName)) }

  /// Returns what a version shares with other versions, in bytes on the device.
  ///
  /// - Parameter gone: Versions that do not count.
  package func sharedSize(_ content: Content, without gone: Set<Bytes> = []) -> UInt64 {
    let own = content.links.filter { !gone.contains($0.bytes) }
    let others = contents.filter { !gone.contains($0.bytes) }.flatMap(\.links).filter { $0.bytes == content.bytes }
    return (own + others).reduce(0) { $0.adding($1.size) }
  }

  /// Returns what became of a candidate.
  package func standing(of candidate: Bytes) -> RolloutChoice.Standing {
    hasFailed(candidate) ? .failed : running?.bytes == candidate ? .running : .other
  }

  // MARK: Changes

  /// Records whether a version is a candidate. It is none any more once it has become the stable edition.
  package mutating func setCandidate(_ bytes: Bytes, _ isCandidate: Bool) {
    if let index = contents.firstIndex(where: { $0.bytes == bytes }) { contents[index].isCandidate = isCandidate }
  }

  /// Records bytes as failed. If they were running, the previous version runs again.
  package mutating func fail(_ bytes: Bytes, reason: String) {
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
  package mutating func fallBack() {
    guard current == nil else { return }
    current = wayBack?.bytes
  }

  /// The version that runs if the running one is withdrawn or fails: the newest proven one that is no candidate and has not failed.
  package var wayBack: Content? {
    contents.filter { $0.isProven && !$0.isCandidate && !$0.isSealed && !hasFailed($0.bytes) }.max { $0.bytes.version < $1.bytes.version }
  }

  /// Makes a version the current one and ends any trial.
  package mutating func settle(on bytes: Bytes, nonce: [UInt8]) {
    current = bytes
    confirmed = nonce
    trial = nil
    purged = nil
    if let index = contents.firstIndex(where: { $0.bytes == bytes }) { contents[index].isProven = true }
  }

  /// Removes the content of a version. What other versions share with it counts there from now on.
  package mutating func removeContent(_ bytes: Bytes) {
    contents.removeAll { $0.bytes == bytes }
    for index in contents.indices {
      for link in contents[index].links where link.bytes == bytes {
        contents[index].sizeOnDevice = contents[index].sizeOnDevice.adding(link.size)
      }
      contents[index].links.removeAll { $0.bytes == bytes }
    }
  }

  /// Removes a version from the record.
  package mutating func forget(_ bytes: Bytes) {
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
  package mutating func judgeTrial(by session: String, starts limit: Int, isAlive: (String) -> Bool) -> TrialVerdict? {
    guard var trial, trial.session != session, !isAlive(trial.session) else { return nil }
    guard trial.starts < UInt64(max(1, limit)) else {
      fail(trial.bytes, reason: RollbackReason.crash)
      return .failed(trial.bytes.version)
    }
    trial.starts += 1
    trial.session = session
    self.trial = trial
    return .continued(trial.bytes.version, start: trial.starts)
  }

  package enum TrialVerdict: Hashable, Sendable {
    case failed(UInt64)
    case continued(UInt64, start: UInt64)
  }

  /// Returns the versions that are no longer needed: failed versions, and versions beyond `count`.
  ///
  /// Of the versions that are newer than the current one and wait to be activated, only the newest is kept, or none if a newer one is about to be
  /// installed. If no version was activated yet, the newest `count` are kept. Versions that cannot be opened yet replace only each other.
  ///
  /// - Parameters:
  ///   - successor: A newer version that is about to be installed.
  ///   - isSealed: Whether that cannot be opened yet.
  package func surplus(keeping count: Int, before successor: Bytes? = nil, isSealed: Bool = false) -> [Content] {
    guard trial == nil else { return contents.filter { hasFailed($0.bytes) && $0.bytes != current } }
    var others = contents.filter { $0.bytes != current }
    var gone = others.filter { hasFailed($0.bytes) }
    others.removeAll { hasFailed($0.bytes) }
    guard let current else {
      let open = others.filter { !$0.isSealed }
      let sealed = others.filter(\.isSealed).sorted { $0.bytes.version > $1.bytes.version }
      return gone + open.sorted { ($0.isProven ? 1 : 0, $0.bytes.version) > ($1.isProven ? 1 : 0, $1.bytes.version) }.dropFirst(count)
        + sealed.dropFirst(1)
    }
    // Nothing falls back to a candidate. As long as one runs, the version before it stays.
    let lasting = others.filter { $0.isProven && !$0.isCandidate }.sorted { $0.bytes.version > $1.bytes.version }
    gone += others.filter { $0.isProven && $0.isCandidate }
    gone += lasting.dropFirst(max(content(current)?.isCandidate == true ? 1 : 0, count - 1))
    let waiting = others.filter { !$0.isProven }
    for kind in [false, true] {
      let alike = waiting.filter { $0.isSealed == kind }
      let newest = (kind == isSealed ? successor?.version : nil) ?? alike.map(\.bytes.version).max()
      gone += alike.filter { $0.bytes.version < current.version || $0.bytes.version != newest }
    }
    return gone
  }

  /// Shortens a text to ``reasonLimit`` bytes without cutting a character.
  private static func shortened(_ text: String) -> String {
    var result = text
    while result.utf8.count > reasonLimit { result.removeLast() }
    return result
  }
}
