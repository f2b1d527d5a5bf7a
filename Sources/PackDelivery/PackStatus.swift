public import PackManifest

/// How far the delivery of one pack is, as app and extension share it.
///
/// It is about one version of the pack, the one that the manifest offered last. An older version that is installed meanwhile is the store's affair.
public struct PackStatus: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// The bytes that the status is about.
  public internal(set) var bytes: PackBytes
  /// How far it is.
  public internal(set) var state: DeliveryState
  /// Attempts that failed in a row.
  public internal(set) var attempts: UInt32
  /// When the state was entered, in seconds since 1970 by the device's clock, which may be wrong.
  public internal(set) var since: Int64
  /// Seconds that a failed delivery rests before the next attempt.
  public internal(set) var delaySeconds: UInt32
  /// Whether the download was handed over as an essential one.
  public internal(set) var isEssential: Bool
  /// Whether the app asked for the pack. It stays true until the pack is cancelled or purged.
  public internal(set) var isWanted: Bool
  /// How the device holds the pack, in whatever version; nil where it does not, or nobody knows.
  public internal(set) var mode: InstallMode?

  /// A pack about which nothing was done yet.
  public init(id: String, bytes: PackBytes, at time: Int64) {
    self.id = id
    self.bytes = bytes
    state = .notLoaded(.new)
    attempts = 0
    since = time
    delaySeconds = 0
    isEssential = false
    isWanted = false
    mode = nil
  }

  /// What the download of the bytes is called.
  public var identifier: DownloadIdentifier { DownloadIdentifier(id: id, bytes: bytes) }

  /// Seconds until the next attempt, 0 where it may be made.
  ///
  /// A clock that was put back cannot make anybody wait: a time before ``since`` counts as the end of the waiting.
  public func secondsLeft(at time: Int64) -> UInt64 {
    guard let age = age(at: time), age < UInt64(delaySeconds) else { return 0 }
    return UInt64(delaySeconds) - age
  }

  /// Seconds since the state was entered; nil where the clock was put back behind it.
  func age(at time: Int64) -> UInt64? {
    guard time >= since else { return nil }
    let (age, overflow) = time.subtractingReportingOverflow(since)
    return overflow ? .max : UInt64(age)
  }

  /// What an event makes of a status.
  public enum Outcome: Hashable, Sendable {
    /// Nothing: the event comes late, or twice.
    case passedOver
    /// Another status, or the same one.
    case became(PackStatus)
    /// The pack is forgotten.
    case forgotten
  }

  /// What an event makes of this status.
  public func after(_ event: PackEvent, at time: Int64, policy: DeliveryPolicy = .init()) -> Outcome {
    switch DeliveryEdge.destination(from: state.kind, on: event.kind) {
    case .passedOver: return .passedOver
    case .forgotten: return .forgotten
    case .state(let target):
      var next = self
      next.take(event, to: target, policy)
      if next.state != state || event == .demoted { next.since = time }
      return .became(next)
    }
  }

  private mutating func take(_ event: PackEvent, to target: DeliveryState.Kind, _ policy: DeliveryPolicy) {
    let idle: IdleReason
    switch event {
    case .offered(let bytes):
      // Whoever never had the pack has not got new bytes of it.
      idle = bytes == self.bytes ? .new : .changed
      self.bytes = bytes
      attempts = 0
      delaySeconds = 0
      isEssential = false
    case .asked:
      idle = .asked
      isWanted = true
      // What is under way or here needs nothing; what failed or rests starts anew.
      guard target == .notLoaded else { return }
      attempts = 0
      delaySeconds = 0
    case .scheduled(let isEssential):
      idle = .new
      self.isEssential = isEssential
    case .demoted:
      idle = .new
      isEssential = false
      attempts &+= 1
    case .turnedAway(let reason):
      idle = reason
      isEssential = false
    case .downloadFailed(let reason), .installFailed(let reason):
      attempts = attempts == .max ? attempts : attempts + 1
      delaySeconds = policy.delay(afterFailures: attempts)
      isEssential = false
      state = .failed(reason)
      return
    case .paused(let reason):
      state = .paused(reason)
      return
    case .forgotten:
      idle = .forgotten
      isEssential = false
    case .cancelled:
      idle = .cancelled
      isEssential = false
      isWanted = false
    case .installed(let mode), .found(let mode):
      idle = .new
      self.mode = mode
      attempts = 0
      delaySeconds = 0
      isEssential = false
    case .purged:
      idle = .purged
      // What was installed went because somebody wanted the space. A file that went was wanted all the same.
      if state == .ready {
        isWanted = false
        mode = nil
      }
    case .retryDue:
      idle = .retrying
      delaySeconds = 0
    case .began, .arrived, .installBegan, .installPutOff, .interrupted, .unlisted, .removed:
      idle = .new
    }
    state =
      switch target {
      case .notLoaded: .notLoaded(idle)
      case .scheduled: .scheduled
      case .loading: .loading
      case .toBeTransferred: .toBeTransferred
      case .installing: .installing
      case .ready: .ready
      case .obsolete: .obsolete
      // Their events carry the reason, and were dealt with.
      case .paused, .failed: state
      }
  }
}
