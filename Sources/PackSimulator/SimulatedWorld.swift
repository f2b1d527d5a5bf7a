import PackDelivery
import PackFiles
import PackFormat
import PackManifest
import PackWork

/// The environment of app, extension and system: time, network, servers and faults. The tasks of a download queue use it, too.
final class SimulatedWorld: Sendable {
  /// A file on a server: of a pack, or of a page.
  struct Source: Sendable {
    let pack: ManifestPack
    let path: String
  }

  private struct State {
    var faults: PendingFaults
    /// The number of starts of the app that have ended.
    var launches = 0
    var sources: [String: Source] = [:]
  }

  let clock: VirtualClock
  let timeline: Timeline
  let speed: NetworkSpeed
  private let state: Monitor<State>

  init(clock: VirtualClock, speed: NetworkSpeed) {
    self.clock = clock
    self.speed = speed
    timeline = Timeline(clock)
    state = Monitor(State(faults: PendingFaults([], packs: [])))
  }

  func expect(_ faults: [SimulatedFault], packs: [String]) {
    state.withLock { state in
      state.faults = PendingFaults(faults, packs: packs)
      state.launches = 0
    }
  }

  /// Publishes a release on the server. Files of earlier releases stay there.
  func publish(_ release: SimulatedRelease) {
    state.withLock { state in
      let pages = release.pages.map { Source(pack: ManifestPack(page: $0, base: ""), path: release.file(of: $0)) }
      for source in release.packs.map({ Source(pack: $0, path: release.file(of: $0)) }) + pages {
        let identifier = DownloadIdentifier(id: source.pack.id, bytes: PackBytes(source.pack)).description
        state.sources[identifier] = source
      }
    }
  }

  func source(_ identifier: String) -> Source? { state.withLock { $0.sources[identifier] } }

  func endLaunch() { state.withLock { $0.launches += 1 } }

  // MARK: Faults

  /// Returns whether there is no network: for the whole device, or for one download.
  func isOffline(_ pack: String?) -> Bool {
    state.withLock { state in
      state.launches < state.faults.offlineLaunches || state.faults.strikes(.offline, pack)
    }
  }

  func strikes(_ kind: SimulatedFault.Kind, _ pack: String?) -> Bool { state.withLock { $0.faults.strikes(kind, pack) } }

  func servedSize(of pack: String?, declared: UInt64) -> UInt64? {
    state.withLock { $0.faults.servedSize(of: pack, declared: declared) }
  }

  /// Returns whether a requested fault has affected a pack; nil for the manifest. A fault of the manifest or of the whole device affects every pack.
  func wasStruck(_ pack: String?) -> Bool {
    state.withLock { $0.faults.struck.contains(pack) || $0.faults.struck.contains(nil) || $0.faults.offlineLaunches > 0 }
  }

  var unusedFaults: [String] { state.withLock { $0.faults.unused } }

  // MARK: Network

  /// Advances the clock by the time of a transfer.
  func transfer(_ bytes: UInt64) {
    clock.advance(milliseconds: NetworkSpeed.latency + speed.milliseconds(bytes))
  }
}
