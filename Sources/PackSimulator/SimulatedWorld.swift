/// The environment of app, extension and system: time, network, servers and faults. The tasks of downloads use it, too.
final class SimulatedWorld: Sendable {
  /// A file on a server: of a pack, of a delta, of a lead, or of a shard of the catalogue.
  struct Source: Sendable {
    /// The name of the pack, or the file name of the shard.
    let id: String
    let bytes: PackBytes
    let path: String
  }

  private struct State {
    var faults: PendingFaults
    /// The number of starts of the app that have ended.
    var launches = 0
    var sources: [String: Source] = [:]
    var traffic = SimulationReport.Traffic()
  }

  let clock: VirtualClock
  let timeline: Timeline
  let link: NetworkLink
  private let state: Monitor<State>

  init(clock: VirtualClock, link: NetworkLink) {
    self.clock = clock
    self.link = link
    timeline = Timeline(clock)
    state = Monitor(State(faults: PendingFaults([], packs: [])))
  }

  func expect(_ faults: [SimulatedFault], packs: [String]) {
    state.withLock { state in
      state.faults = PendingFaults(faults, packs: packs)
      state.launches = 0
      state.traffic = SimulationReport.Traffic()
    }
  }

  /// Publishes a release on the server. Files of earlier releases stay there.
  func publish(_ release: SimulatedRelease) {
    var sources = release.packs.map { Source(id: $0.id, bytes: PackBytes($0), path: release.file(of: $0)) }
    for pack in release.packs {
      sources += pack.deltas.map { delta in
        let bytes = PackBytes(version: pack.version, size: delta.size, sha256: delta.sha256)
        return Source(id: pack.id, bytes: bytes, path: release.file(of: delta, to: pack.id))
      }
      if let stream = pack.stream {
        let bytes = PackBytes(version: pack.version, size: stream.size, sha256: stream.sha256)
        sources.append(Source(id: pack.id, bytes: bytes, path: release.file(of: stream, of: pack.id)))
      }
    }
    state.withLock { state in
      for source in sources { state.sources[DownloadIdentifier(id: source.id, bytes: source.bytes).description] = source }
      for shard in release.manifest.catalogue {
        let bytes = PackBytes(version: 0, size: shard.size, sha256: shard.sha256)
        state.sources[shard.fileName] = Source(id: shard.fileName, bytes: bytes, path: release.file(of: shard))
      }
    }
  }

  func source(_ identifier: String) -> Source? { state.withLock { $0.sources[identifier] } }

  /// Returns a shard of the catalogue, as an app fetches it: whole, or not at all.
  func shard(at address: String) throws(PackError) -> [UInt8] {
    let name = address.split(separator: "/").last.map(String.init) ?? address
    guard let source = source(name), let file = try? SystemFiles().contents(of: source.path, limit: 2 << 20) else {
      timeline.tell(.app, "\(name): the server has no such file", pack: name, error: .plain("the server has no such file"))
      throw PackError(.downloadFailed, "\(name) was not downloaded: the server has no such file", advice: .tryAgain)
    }
    if isOffline(name) {
      timeline.tell(.app, "\(name): there is no network", pack: name, error: .plain("no connection"), isInjected: true)
      throw PackError(.offline, "\(name) was not downloaded: there is no network", advice: .connect)
    }
    var bytes = file
    let served = servedSize(of: name, declared: source.bytes.size) ?? UInt64(file.count)
    if served != source.bytes.size { bytes.append(0) }
    if strikes(.truncate, name) { bytes.removeLast(bytes.count - bytes.count / 2) }
    transfer(UInt64(bytes.count), of: name)
    timeline.tell(.app, "\(name): downloads \(bytes.count) bytes in the foreground", pack: name)
    return bytes
  }

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

  /// Advances the clock by the time of a transfer, and counts its bytes.
  ///
  /// - Parameter name: that of the pack or the shard; nil for the manifest.
  func transfer(_ bytes: UInt64, of name: String?) {
    clock.advance(milliseconds: link.latency + link.milliseconds(bytes))
    count(bytes, of: name)
  }

  /// Counts bytes that came over the network.
  func count(_ bytes: UInt64, of name: String?) { state.withLock { $0.traffic.add(bytes, of: name) } }

  /// What came over the network since the faults were set.
  var traffic: SimulationReport.Traffic { state.withLock { $0.traffic } }
}
