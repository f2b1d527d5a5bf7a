/// How a request replaces a running version of a pack that is not the one in the manifest.
public enum TagUpdate: Sendable {
  /// The version in the manifest becomes the current one at once. Use this for content, whose bytes are checked.
  case confirmed
  /// The version in the manifest runs on trial, and ``TagAccess/trials`` contains the token that confirms it. Use this for code, which may crash. A
  /// version that is not confirmed fails when the process ends, and its bytes are not tried again.
  case onTrial
}

/// A request for the packs that have any of a set of tags: the counterpart of NSBundleResourceRequest.
///
/// A request may begin any number of times, one after the other. Each time returns a new access. Cancelling the task that called ``begin()`` ends the
/// request and leaves its downloads running; ``PackLibrary/cancel(_:)`` ends one. Any number of tasks may use a request at the same time.
public final class TagRequest: Sendable {
  /// The priority of a request that interrupts less urgent downloads. These continue later.
  public static let urgent = 1.0

  /// The requested tags. The request is for all packs that have at least one of them.
  public let tags: Set<String>
  /// How a running version that is not the one in the manifest is replaced.
  public let update: TagUpdate
  /// Whether ``begin()`` waits if there is no network. If false, it throws.
  public let waitsForNetwork: Bool

  private let library: PackLibrary
  private let number: Int
  private let state: Monitor<State>
  let meter = TagMeter()

  private struct State {
    var priority: Double
    var isUnderWay = false
    /// The packs that it waits for.
    var missing: [String] = []
  }

  /// Creates a request. Nothing is checked before it begins.
  ///
  /// - Parameters:
  ///   - tags: The requested tags, at least one.
  ///   - library: The packs of the app.
  ///   - priority: The priority of its downloads, from 0 to 1.
  ///   - update: How a running version that is not the one in the manifest is replaced.
  ///   - waitsForNetwork: Whether ``begin()`` waits if there is no network, and after any number of failures. If false, it throws without a network, if
  ///     the manifest or a part of its catalogue cannot be fetched, and after five failed attempts for a pack.
  public init(
    _ tags: Set<String>, of library: PackLibrary, priority: Double = 0.5, update: TagUpdate = .confirmed, waitsForNetwork: Bool = false
  ) {
    self.tags = tags
    self.library = library
    number = Waiters.number()
    self.update = update
    self.waitsForNetwork = waitsForNetwork
    state = Monitor(State(priority: priority))
  }

  /// The priority of its downloads, from 0 to 1.
  public var priority: Double { state.withLock { $0.priority } }

  /// Changes the priority, also while the request is in progress. A download that several requests wait for has the highest of their priorities.
  ///
  /// - Throws: ``PackError/Code/usage`` if the number is not from 0 to 1.
  public func setPriority(_ priority: Double) async throws(PackError) {
    try Self.check(priority: priority)
    let missing = state.withLock { state in
      state.priority = priority
      return state.missing
    }
    await library.loop.setPriority(priority, of: number, waitingFor: missing)
  }

  /// The current progress of the request.
  public var progress: TagProgress { meter.progress }

  /// Returns a stream of the current progress and each change, until the request ends. A listener that is too slow receives only the latest value.
  public func progressUpdates() -> AsyncStream<TagProgress> { meter.listen() }

  private static func check(priority: Double) throws(PackError) {
    guard (0...1).contains(priority) else { throw PackError(.usage, "the priority is \(priority), but must be from 0 to 1") }
  }

  // MARK: Beginning

  /// Returns an access if all packs are installed in the versions that the manifest names, otherwise nil. Needs no network.
  ///
  /// An earlier version does not count. To use an earlier version, open it with ``AssetStore/open(_:)``.
  ///
  /// - Throws: ``PackError/Code/unknownTag``, ``PackError/Code/noManifest``, ``PackError/Code/usage`` if the request is already in progress,
  ///   ``PackError/Code/manifestChanged`` if another manifest is accepted at the same time, or an error of opening a pack.
  public func conditionallyBegin() async throws(PackError) -> TagAccess? {
    try await underWay { () throws(PackError) in
      guard let goal = try await self.library.loop.goal(of: self.tags, for: nil) else { return nil }
      let holding = try await self.library.store.hold(goal.packs)
      guard holding.marks.count == goal.packs.count else { return nil }
      return try await self.access(to: goal, holding.marks)
    }
  }

  /// Downloads and installs the missing packs, and returns an access.
  ///
  /// No new version runs before all packs are installed. If the request fails or is cancelled, the packs installed by then stay installed, and the
  /// bytes downloaded so far are kept for the next time.
  ///
  /// - Throws: ``PackError/Code/unknownTag``, ``PackError/Code/noManifest``, ``PackError/Code/manifestExpired`` if a pack is missing,
  ///   ``PackError/Code/versionFailed`` if the same bytes failed on this device, ``PackError/Code/manifestChanged`` if the tags now belong to other
  ///   packs or bytes, ``PackError/Code/offline``, ``PackError/Code/downloadFailed``, ``PackError/Code/digestMismatch`` and
  ///   ``PackError/Code/wrongPack`` if the server has other bytes, ``PackError/Code/noSpace`` and ``PackError/Code/quotaExceeded`` with the number of
  ///   missing bytes, ``PackError/Code/cancelled``, ``PackError/Code/usage`` if the request is already in progress, or an error of installing or
  ///   opening a pack.
  public func begin() async throws(PackError) -> TagAccess { try await begin(isPlaying: false) }

  /// Does what ``begin()`` does, but of a pack of which no version is installed, what its launch reads is enough: it can be read while the rest arrives, as
  /// after ``PackLibrary/play(_:)``. Packs without a lead, and updates, come whole.
  ///
  /// The progress counts the packs as a whole; the request ends before they are here. A pack that is still arriving is not on trial.
  ///
  /// - Throws: As ``begin()``.
  public func play() async throws(PackError) -> TagAccess { try await begin(isPlaying: true) }

  private func begin(isPlaying: Bool) async throws(PackError) -> TagAccess {
    let access = try await underWay { () throws(PackError) -> TagAccess? in
      guard let goal = try await self.library.loop.goal(of: self.tags, for: self) else {
        throw PackError(.internalError, "parts of the catalogue were not fetched")
      }
      let holding = try await self.library.store.hold(goal.packs)
      if let failure = holding.failure { throw failure }
      let missing = goal.packs.filter { holding.marks[$0.id] == nil }
      var (marks, arriving): ([String: UseMark], [String: OpenedPack]) = (holding.marks, [:])
      if !missing.isEmpty {
        self.state.withLock { $0.missing = missing.map(\.id) }
        defer { self.state.withLock { $0.missing = [] } }
        let brought = try await self.library.loop.install(missing, of: goal, for: self, self.number, isPlaying: isPlaying)
        marks.merge(brought.marks) { held, _ in held }
        arriving = brought.arriving
      }
      return try await self.access(to: goal, marks, arriving)
    }
    guard let access else { throw PackError(.internalError, "a request succeeded, but returned no access") }
    return access
  }

  private func underWay(_ body: () async throws(PackError) -> TagAccess?) async throws(PackError) -> TagAccess? {
    try Self.check(priority: priority)
    let isFree = state.withLock { state in
      defer { state.isUnderWay = true }
      return !state.isUnderWay
    }
    guard isFree else { throw PackError(.usage, "the request is already in progress", advice: .developer("create another request")) }
    defer { state.withLock { $0.isUnderWay = false } }
    meter.begin()
    do throws(PackError) {
      let access = try await body()
      meter.end(access == nil ? .waiting : .ready)
      return access
    } catch {
      meter.end(.failed)
      throw error
    }
  }

  /// Activates and opens all packs.
  ///
  /// - Parameters:
  ///   - goal: The packs.
  ///   - marks: The marks that keep the packs in use until they are open.
  ///   - arriving: Those that are read while they arrive.
  private func access(
    to goal: TagGoal, _ marks: [String: UseMark], _ arriving: [String: OpenedPack] = [:]
  ) async throws(PackError) -> TagAccess {
    defer { withExtendedLifetime(marks) {} }
    try await library.loop.check(goal, of: tags)
    var trials: [BootToken] = []
    for pack in goal.packs where arriving[pack.id] == nil {
      if let token = try await library.store.run(pack, startsTrial: update == .onTrial) { trials.append(token) }
    }
    var opened: [OpenedPack] = []
    for pack in goal.packs {
      if let open = arriving[pack.id] {
        opened.append(open)
        continue
      }
      let open = try await library.store.open(pack.id)
      guard open.installed.version == pack.version, open.installed.sha256 == pack.sha256 else {
        throw PackError(
          .notInstalled, "version \(pack.version) of pack '\(pack.id)' is not running: another version was activated in the meantime",
          advice: .tryAgain)
      }
      opened.append(open)
    }
    return TagAccess(tags, opened, trials: trials)
  }
}
