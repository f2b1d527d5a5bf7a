/// The status of one pack's delivery, shared by app and extension: of one version of it, which the manifest offered last and the device does not have.
///
/// What is on the device is only in the store's records. There is no status of a pack that the device has as the manifest offers it. Whether the file
/// arrived says only the file itself (``SharedState/hasArrived(_:)``).
public struct PackStatus: Hashable, Sendable {
  /// The name of the pack.
  public let id: String
  /// The bytes that the status is about.
  public internal(set) var bytes: PackBytes
  /// The state of the delivery.
  public internal(set) var state: DeliveryState
  /// The number of consecutive failed attempts.
  public internal(set) var attempts: UInt32
  /// The time when the state was entered, in seconds since 1970 by the device's clock, which may be wrong.
  public internal(set) var since: Int64
  /// The number of seconds between a failure and the next attempt.
  public internal(set) var delaySeconds: UInt32
  /// Whether the download was handed over as an essential one.
  public internal(set) var isEssential: Bool
  /// Whether the app requested the pack. It stays true until the pack is cancelled.
  public internal(set) var isWanted: Bool
  /// The file of the delta that brings these bytes instead of the full pack; nil if it is the full pack.
  public internal(set) var delta: PackBytes?
  /// Why the full pack is downloaded, although the manifest offers deltas to these bytes; nil if no delta has failed.
  public internal(set) var fallback: FailureReason?
  /// The file of the lead (FORMAT.md §9.9) that is fetched as an essential download in front of the full pack; nil if it is not.
  public internal(set) var lead: PackBytes?

  /// Creates the status of a pack that has not been downloaded yet.
  public init(id: String, bytes: PackBytes, at time: Int64) {
    self.id = id
    self.bytes = bytes
    state = .notLoaded(.new)
    attempts = 0
    since = time
    delaySeconds = 0
    isEssential = false
    isWanted = false
    delta = nil
    fallback = nil
    lead = nil
  }

  /// The file that is fetched: that of the lead, that of a delta, or that of the full pack.
  public var file: PackBytes { lead ?? delta ?? bytes }

  /// The identifier of the download of ``file``.
  public var identifier: DownloadIdentifier { DownloadIdentifier(id: id, bytes: file) }

  /// Whether the record shows nothing that is to come.
  package var isIdle: Bool { state.kind == .notLoaded && !isWanted }

  /// Returns the number of seconds until the next attempt; 0 if it may be made now.
  ///
  /// If the clock was set back to a time before ``since``, the wait counts as over.
  ///
  /// - Parameter longest: the maximum number of seconds between the failure and the next attempt.
  public func secondsLeft(at time: Int64, atMost longest: UInt32 = .max) -> UInt64 {
    let delay = UInt64(min(delaySeconds, longest))
    guard let age = age(at: time), age < delay else { return 0 }
    return delay - age
  }

  /// Returns the number of seconds since the state was entered; nil if the clock was set back to an earlier time.
  func age(at time: Int64) -> UInt64? {
    guard time >= since else { return nil }
    let (age, overflow) = time.subtractingReportingOverflow(since)
    return overflow ? .max : UInt64(age)
  }

  /// Returns the status after an event, which may be the same. Nil if the event is late or repeated, and ignored.
  public func after(_ event: PackEvent, at time: Int64, policy: DeliveryPolicy = .init()) -> PackStatus? {
    guard let target = DeliveryEdge.destination(from: state.kind, on: event.kind) else { return nil }
    var next = self
    next.take(event, to: target, policy)
    if next.state != state || event == .demoted { next.since = time }
    return next
  }

  private mutating func take(_ event: PackEvent, to target: DeliveryState.Kind, _ policy: DeliveryPolicy) {
    let idle: IdleReason
    switch event {
    case .offered(let bytes):
      // The reason is `changed` only if the status was about other bytes before.
      idle = bytes == self.bytes ? .new : .changed
      self.bytes = bytes
      attempts = 0
      delaySeconds = 0
      isEssential = false
      delta = nil
      fallback = nil
      lead = nil
    case .asked:
      idle = .asked
      isWanted = true
      // In other states nothing changes; a failed or cancelled pack starts again.
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
    case .downloadFailed(let reason, let hasGrown, let seconds):
      if hasGrown { attempts = 0 }
      return fail(reason, policy, atLeast: seconds)
    case .installFailed(let reason):
      return fail(reason, policy)
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
    case .arrived:
      idle = .arrived
      isEssential = false
    case .retryDue:
      idle = .retrying
      delaySeconds = 0
    case .began:
      idle = .new
    }
    state =
      switch target {
      case .notLoaded: .notLoaded(idle)
      case .scheduled: .scheduled
      case .loading: .loading
      // The events of these states carry the reason and were handled above.
      case .paused, .failed: state
      }
  }

  private mutating func fail(_ reason: FailureReason, _ policy: DeliveryPolicy, atLeast seconds: UInt32 = 0) {
    attempts = attempts == .max ? attempts : attempts + 1
    delaySeconds = policy.delay(afterFailures: attempts, reason: reason, atLeast: seconds)
    isEssential = false
    state = .failed(reason)
    // After a lead, the full pack comes next.
    if lead == nil { fallBack(after: reason) }
    lead = nil
  }

  /// Gives a delta up for the full pack: at once if it cannot be installed, and after its second failed download if the server is at fault.
  private mutating func fallBack(after reason: FailureReason) {
    guard delta != nil else { return }
    switch reason {
    case .base, .wrongBytes, .wrongSize, .installation: break
    case .server, .configuration: guard attempts >= 2 else { return }
    case .offline, .timeout, .noSpace, .system, .rejected: return
    }
    delta = nil
    fallback = reason
    attempts = 0
    delaySeconds = 0
  }
}
