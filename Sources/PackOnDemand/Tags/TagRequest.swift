import PackDownloads
public import PackFormat
import PackManifest
import PackStore
import PackWork

/// What a request does where an earlier version of a pack runs than the one that the manifest names.
public enum TagUpdate: Sendable {
  /// The manifest's version runs from now on: right for content, whose bytes are checked.
  case confirmed
  /// The manifest's version runs on trial, and ``TagAccess/trials`` has what confirms it: right for what may crash. One that nobody confirms falls when the
  /// process ends, and its bytes are not tried again.
  case onTrial
}

/// Asks for the packs that have one of some tags: the counterpart of NSBundleResourceRequest.
///
/// A request may begin any number of times, one after the other, and each time gives an access of its own. Cancelling the task that begins it ends it. May be used
/// from any number of tasks at once.
public final class TagRequest: Sendable {
  /// The priority that takes the place of downloads that are less urgent, which go on later.
  public static let urgent = 1.0

  /// What is asked for. A pack counts where it has any of them.
  public let tags: Set<String>
  /// What becomes of an earlier version that runs.
  public let update: TagUpdate
  /// Whether ``begin()`` waits for a network where there is none, rather than fail.
  public let waitsForNetwork: Bool

  private let packs: OnDemandPacks
  private let state: Monitor<State>
  let meter = TagMeter()

  private struct State {
    var priority: Double
    var isUnderWay = false
  }

  /// Makes a request. Nothing is looked at before it begins.
  ///
  /// - Parameters:
  ///   - tags: at least one.
  ///   - packs: what the requests of the app share.
  ///   - priority: how urgent it is among downloads, from 0 to 1.
  ///   - update: what becomes of an earlier version that runs.
  ///   - waitsForNetwork: whether ``begin()`` waits for a network where there is none, rather than fail.
  public init(
    _ tags: Set<String>, of packs: OnDemandPacks, priority: Double = 0.5, update: TagUpdate = .confirmed, waitsForNetwork: Bool = false
  ) {
    self.tags = tags
    self.packs = packs
    self.update = update
    self.waitsForNetwork = waitsForNetwork
    state = Monitor(State(priority: priority))
  }

  /// How urgent it is, from 0 to 1.
  public var priority: Double { state.withLock { $0.priority } }

  /// Changes how urgent it is, also while it is under way. A download that several requests wait for has the highest of their priorities.
  ///
  /// - Throws: ``PackError/Code/usage`` for a number that is none from 0 to 1.
  public func setPriority(_ priority: Double) async throws(PackError) {
    try DownloadRequest.check(priority: priority)
    state.withLock { $0.priority = priority }
    try await packs.applyPriority(of: self)
  }

  /// How far it has come.
  public var progress: TagProgress { meter.progress }

  /// How far it has come, now and whenever that changes, until it has ended. A listener that does not keep up is told of the latest.
  public func progressUpdates() -> AsyncStream<TagProgress> { meter.listen() }

  // MARK: Beginning

  /// Gives access where all of the packs are installed in the version that the manifest names, and nil where they are not. Needs no network.
  ///
  /// An earlier version does not count: the tags mean what the manifest says. Who can do with it opens it by ``AssetStore/open(_:)``.
  ///
  /// - Throws: ``PackError/Code/unknownTag``, ``PackError/Code/noManifest``, ``PackError/Code/usage`` where the request is under way already,
  ///   ``PackError/Code/manifestChanged`` where another manifest comes in this moment, or what opening a pack throws.
  public func conditionallyBegin() async throws(PackError) -> TagAccess? {
    try await underWay { () throws(PackError) in
      let goal = try await self.packs.goal(of: self.tags)
      let holding = try await self.packs.store.hold(goal.packs)
      guard holding.marks.count == goal.packs.count else { return nil }
      return try await self.access(to: goal, holding.marks)
    }
  }

  /// Gives access, and downloads and installs what is missing before that.
  ///
  /// All is downloaded before anything new runs. Where it fails or is cancelled, what was installed by then stays so, and what has come of the rest is there for
  /// the next time.
  ///
  /// - Throws: ``PackError/Code/unknownTag``, ``PackError/Code/noManifest``, ``PackError/Code/manifestExpired`` where something is missing,
  ///   ``PackError/Code/versionFailed`` for bytes that failed on this device, ``PackError/Code/manifestChanged`` where the tags mean something else by
  ///   now, ``PackError/Code/offline``, ``PackError/Code/downloadFailed``, ``PackError/Code/digestMismatch`` and ``PackError/Code/wrongPack`` where the server
  ///   has other bytes, ``PackError/Code/noSpace`` and ``PackError/Code/quotaExceeded`` with the bytes that are missing, ``PackError/Code/cancelled``,
  ///   ``PackError/Code/usage`` where the request is under way already, or what installing and opening a pack throw.
  public func begin() async throws(PackError) -> TagAccess {
    let access = try await underWay { () throws(PackError) -> TagAccess? in
      let goal = try await self.packs.goal(of: self.tags)
      let holding = try await self.packs.store.hold(goal.packs)
      if let failure = holding.failure { throw failure }
      let missing = goal.packs.filter { holding.marks[$0.id] == nil }
      var marks = holding.marks
      if !missing.isEmpty {
        let fetch = TagFetch(request: self, packs: self.packs, goal: goal)
        marks.merge(try await fetch.run(missing)) { held, _ in held }
      }
      return try await self.access(to: goal, marks)
    }
    guard let access else { throw PackError(.internalError, "a request that did not fail gave no access") }
    return access
  }

  private func underWay(_ body: () async throws(PackError) -> TagAccess?) async throws(PackError) -> TagAccess? {
    try DownloadRequest.check(priority: priority)
    let isFree = state.withLock { state in
      defer { state.isUnderWay = true }
      return !state.isUnderWay
    }
    guard isFree else { throw PackError(.usage, "the request is under way already", advice: .developer("make another request")) }
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

  /// Has all of it run, and opens it.
  ///
  /// - Parameter marks: what keeps the packs until they are open.
  private func access(to goal: OnDemandPacks.Goal, _ marks: [String: UseMark]) async throws(PackError) -> TagAccess {
    defer { withExtendedLifetime(marks) {} }
    try await packs.check(goal, of: tags)
    var trials: [BootToken] = []
    for pack in goal.packs {
      if let token = try await packs.store.run(pack, startsTrial: update == .onTrial) { trials.append(token) }
    }
    var opened: [OpenedPack] = []
    for pack in goal.packs {
      let open = try await packs.store.open(pack.id)
      guard open.installed.version == pack.version, open.installed.sha256 == pack.sha256 else {
        throw PackError(
          .notInstalled, "version \(pack.version) of pack '\(pack.id)' does not run: somebody had another one run meanwhile",
          advice: .tryAgain)
      }
      opened.append(open)
    }
    return TagAccess(tags, opened, trials: trials)
  }
}
