import PackDelivery
import PackFormat
import PackProject

/// The system's service for downloads, with its rules: what it takes, in which order, and what it refuses.
///
/// It knows nothing of packs, and nobody hears from it here: what a download comes to is told by whoever asks.
struct DownloadDaemon {
  struct Download {
    let identifier: String
    let pack: String
    let url: String
    /// What was declared. The system holds the server to it.
    let size: UInt64
    let isEssential: Bool
    let priority: Double
    /// The bytes that came.
    var received: UInt64 = 0
  }

  /// What it has, in the order in which it was handed over.
  private(set) var downloads: [Download] = []
  /// What may still be downloaded before the first start of the app; nil after it.
  private(set) var remaining: Allowance?
  private var hosts: AllowList?
  /// Whether nothing is done in the background: low power.
  let isBackgroundProhibited: Bool

  init(isBackgroundProhibited: Bool) {
    self.isBackgroundProhibited = isBackgroundProhibited
  }

  /// The same once the person charged the device.
  var inFullPower: DownloadDaemon {
    var daemon = DownloadDaemon(isBackgroundProhibited: false)
    daemon.downloads = downloads
    daemon.remaining = remaining
    daemon.hosts = hosts
    return daemon
  }

  /// Whether the app was not started yet.
  var isRestricted: Bool { remaining != nil }

  mutating func restrict(_ rules: SystemRules) {
    remaining = rules.allowance
    hosts = rules.hosts
  }

  /// The app was started: no bound holds any more.
  mutating func liftRestrictions() {
    remaining = nil
    hosts = nil
  }

  /// Why nothing is downloaded from a URL; nil where it is.
  func refusal(ofURL text: String) -> SystemError? {
    guard let hosts else { return nil }
    guard let url = try? ServedURL(text), hosts.allows(host: url.host) else { return .disallowedByDomain }
    return nil
  }

  /// Counts the manifest: against the essential allowance, and where that does not do against the other one. It is not declared before.
  mutating func charge(manifest bytes: UInt64) -> SystemError? {
    guard var left = remaining else { return nil }
    guard left.take(bytes, isEssential: true) || left.take(bytes, isEssential: false) else {
      remaining?.essential = 0
      return .disallowedByAllowance
    }
    remaining = left
    return nil
  }

  /// What the extension is told is left: what was scheduled counts as taken.
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

  /// Takes a download, or says why not.
  mutating func schedule(_ download: Download, permitsEssential: Bool) -> SystemError? {
    guard !downloads.contains(where: { $0.identifier == download.identifier }) else { return .alreadyScheduled }
    guard !download.isEssential || permitsEssential else { return .essentialNotPermitted }
    // Somebody waits for an essential one.
    guard download.isEssential || !isBackgroundProhibited else { return .backgroundActivityProhibited }
    if var left = promised, !left.take(download.size, isEssential: download.isEssential) { return .wouldExceedAllowance }
    downloads.append(download)
    return nil
  }

  /// Gives a download up; nil where there is none.
  mutating func cancel(_ identifier: String) -> SystemError? {
    guard let index = downloads.firstIndex(where: { $0.identifier == identifier }) else { return .doesNotExist }
    downloads.remove(at: index)
    return nil
  }

  /// The next one to bring: essential ones first, then by priority, then in the order in which they came.
  func next() -> Download? {
    // Of those that are equal the first.
    downloads.enumerated().min { left, right in
      (left.element.isEssential ? 0 : 1, -left.element.priority, left.offset)
        < (right.element.isEssential ? 0 : 1, -right.element.priority, right.offset)
    }?.element
  }

  /// Why a download may not begin now.
  func refusal(toBegin download: Download) -> SystemError? {
    if let refusal = refusal(ofURL: download.url) { return refusal }
    guard var left = remaining else { return nil }
    return left.take(download.size - download.received, isEssential: download.isEssential) ? nil : .disallowedByAllowance
  }

  /// Counts bytes that came for a download.
  ///
  /// - Returns: why it ends where it would be as many as are left or more, which uses up all that was left.
  mutating func charge(_ bytes: UInt64, to download: Download) -> SystemError? {
    guard var left = remaining else { return nil }
    defer { remaining = left }
    guard left.take(bytes, isEssential: download.isEssential) else {
      if download.isEssential { left.essential = 0 } else { left.other = 0 }
      return .allowanceExceeded
    }
    return nil
  }

  /// Notes how many bytes of a download came.
  mutating func note(received: UInt64, of identifier: String) {
    guard let index = downloads.firstIndex(where: { $0.identifier == identifier }) else { return }
    downloads[index].received = received
  }

  /// Ends a download, however it ended.
  mutating func end(_ identifier: String) {
    downloads.removeAll { $0.identifier == identifier }
  }
}
