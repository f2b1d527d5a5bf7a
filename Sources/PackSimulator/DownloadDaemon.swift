/// The download service of the system, with its rules: the downloads that it accepts, their order, and its refusals.
///
/// It reports no events. Its caller runs the downloads and reports the results.
struct DownloadDaemon {
  struct Download {
    let identifier: String
    let pack: String
    let url: String
    /// The declared size in bytes. A file of another size fails.
    let size: UInt64
    let isEssential: Bool
    let priority: Double
    /// The number of bytes received.
    var received: UInt64 = 0
  }

  /// The scheduled downloads, in the order in which they were scheduled.
  private(set) var downloads: [Download] = []
  /// The remaining allowance before the first start of the app; nil after it.
  private(set) var remaining: Allowance?
  private var hosts: AllowList?
  /// Whether only essential downloads are accepted, because of low power mode.
  let isBackgroundProhibited: Bool

  init(isBackgroundProhibited: Bool) {
    self.isBackgroundProhibited = isBackgroundProhibited
  }

  /// The same service without low power mode.
  var inFullPower: DownloadDaemon {
    var daemon = DownloadDaemon(isBackgroundProhibited: false)
    daemon.downloads = downloads
    daemon.remaining = remaining
    daemon.hosts = hosts
    return daemon
  }

  /// Whether the restrictions before the first start of the app apply.
  var isRestricted: Bool { remaining != nil }

  mutating func restrict(_ rules: SystemRules) {
    remaining = rules.allowance
    hosts = rules.hosts
  }

  /// Lifts all restrictions, at the first start of the app.
  mutating func liftRestrictions() {
    remaining = nil
    hosts = nil
  }

  /// Returns why a URL may not be downloaded; nil if it may.
  func refusal(ofURL text: String) -> SystemError? {
    guard let hosts else { return nil }
    guard let url = try? ServedURL(text), hosts.allows(host: url.host) else { return .disallowedByDomain }
    return nil
  }

  /// Counts the manifest against the essential allowance, or against the other one if it does not fit. Its size is not declared in advance.
  mutating func charge(manifest bytes: UInt64) -> SystemError? {
    guard var left = remaining else { return nil }
    guard left.take(bytes, isEssential: true) || left.take(bytes, isEssential: false) else {
      remaining?.essential = 0
      return .disallowedByAllowance
    }
    remaining = left
    return nil
  }

  /// The remaining allowance that the extension gets: scheduled downloads count as used.
  var promised: Allowance? {
    guard var left = remaining else { return nil }
    for download in downloads {
      let rest = download.size - download.received
      if download.isEssential {
        left.essential -= min(left.essential, rest)
      } else {
        left.other -= min(left.other, rest)
      }
    }
    return left
  }

  /// Schedules a download, or returns why it is refused.
  mutating func schedule(_ download: Download, permitsEssential: Bool) -> SystemError? {
    guard !downloads.contains(where: { $0.identifier == download.identifier }) else { return .alreadyScheduled }
    guard !download.isEssential || permitsEssential else { return .essentialNotPermitted }
    // The person waits for essential downloads.
    guard download.isEssential || !isBackgroundProhibited else { return .backgroundActivityProhibited }
    if var left = promised, !left.take(download.size, isEssential: download.isEssential) { return .wouldExceedAllowance }
    downloads.append(download)
    return nil
  }

  /// Cancels a download. Returns an error if there is no such download.
  mutating func cancel(_ identifier: String) -> SystemError? {
    guard let index = downloads.firstIndex(where: { $0.identifier == identifier }) else { return .doesNotExist }
    downloads.remove(at: index)
    return nil
  }

  /// Returns the next download: essential ones first, then by priority, then in the order in which they were scheduled.
  func next() -> Download? {
    // Among equal downloads, the first one.
    downloads.enumerated().min { left, right in
      (left.element.isEssential ? 0 : 1, -left.element.priority, left.offset)
        < (right.element.isEssential ? 0 : 1, -right.element.priority, right.offset)
    }?.element
  }

  /// Returns why a download may not begin now; nil if it may.
  func refusal(toBegin download: Download) -> SystemError? {
    if let refusal = refusal(ofURL: download.url) { return refusal }
    guard var left = remaining else { return nil }
    return left.take(download.size - download.received, isEssential: download.isEssential) ? nil : .disallowedByAllowance
  }

  /// Counts received bytes of a download against its allowance.
  ///
  /// - Returns: the error that ends the download if the bytes are not fewer than the remaining allowance, which is then used up; otherwise nil.
  mutating func charge(_ bytes: UInt64, to download: Download) -> SystemError? {
    guard var left = remaining else { return nil }
    defer { remaining = left }
    guard left.take(bytes, isEssential: download.isEssential) else {
      if download.isEssential { left.essential = 0 } else { left.other = 0 }
      return .allowanceExceeded
    }
    return nil
  }

  /// Sets the number of received bytes of a download.
  mutating func note(received: UInt64, of identifier: String) {
    guard let index = downloads.firstIndex(where: { $0.identifier == identifier }) else { return }
    downloads[index].received = received
  }

  /// Removes a finished or failed download.
  mutating func end(_ identifier: String) {
    downloads.removeAll { $0.identifier == identifier }
  }
}
