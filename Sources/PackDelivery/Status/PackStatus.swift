/// The status of one pack's delivery, shared by app and extension.
///
/// It is about one version of the pack, the one that the manifest offered last. The store keeps track of an older version that is still installed.
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
  /// Whether the app requested the pack. It stays true until the pack is cancelled or purged.
  public internal(set) var isWanted: Bool
  /// The install mode of the pack on the device, in any version; nil if it is not installed or if this is unknown.
  public internal(set) var mode: InstallMode?
  /// The file of the delta that brings these bytes instead of the full pack; nil if it is the full pack.
  public internal(set) var delta: PackBytes?
  /// Why the full pack is downloaded, although the manifest offers deltas to these bytes; nil if no delta has failed.
  public internal(set) var fallback: FailureReason?
  /// The content root of the version on the device over which a delta can be applied, 32 bytes. Nil if there is none, or it is unknown.
  package internal(set) var base: [UInt8]?

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
    mode = nil
    delta = nil
    fallback = nil
    base = nil
  }

  /// The file that brings these bytes: that of a delta, or that of the full pack.
  public var file: PackBytes { delta ?? bytes }

  /// The identifier of the download of ``file``.
  public var identifier: DownloadIdentifier { DownloadIdentifier(id: id, bytes: file) }

  /// Whether the record shows nothing on the device and nothing that is to come there.
  package var isIdle: Bool { (state.kind == .notLoaded || state == .obsolete) && !isWanted && mode == nil }

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

  /// The result of applying an event to a status.
  public enum Outcome: Hashable, Sendable {
    /// No change: the event is late or repeated.
    case passedOver
    /// A new status, or the same one.
    case became(PackStatus)
    /// The record of the pack is removed.
    case forgotten
  }

  /// Returns the result of applying an event to this status.
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
      // The reason is `changed` only if the status was about other bytes before.
      idle = bytes == self.bytes ? .new : .changed
      self.bytes = bytes
      attempts = 0
      delaySeconds = 0
      isEssential = false
      delta = nil
      fallback = nil
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
    case .installed(let mode), .found(let mode):
      idle = .new
      self.mode = mode
      attempts = 0
      delaySeconds = 0
      isEssential = false
      delta = nil
      fallback = nil
    case .purged:
      idle = .purged
      // If the installed pack was removed, the space was needed for something else. If a file was removed, the pack is still wanted.
      if state == .ready {
        isWanted = false
        (mode, base) = (nil, nil)
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
      // The events of these states carry the reason and were handled above.
      case .paused, .failed: state
      }
  }

  private mutating func fail(_ reason: FailureReason, _ policy: DeliveryPolicy, atLeast seconds: UInt32 = 0) {
    attempts = attempts == .max ? attempts : attempts + 1
    delaySeconds = policy.delay(afterFailures: attempts, reason: reason, atLeast: seconds)
    isEssential = false
    state = .failed(reason)
    fallBack(after: reason)
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
