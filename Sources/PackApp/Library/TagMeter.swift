/// Adds up the progress of a request and reports it to listeners.
final class TagMeter: Sendable {
  private struct Part {
    var downloadSize: UInt64
    var installSize: UInt64
    var downloaded: UInt64 = 0
    var installed: UInt64 = 0
  }

  private struct State {
    var progress = TagProgress()
    var parts: [String: Part] = [:]
    var listeners: [Int: AsyncStream<TagProgress>.Continuation] = [:]
    var next = 0
  }

  private let state = Monitor(State())

  var progress: TagProgress { state.withLock { $0.progress } }

  func listen() -> AsyncStream<TagProgress> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let (number, isOver) = state.withLock { state in
        continuation.yield(state.progress)
        let isOver = state.progress.phase == .ready || state.progress.phase == .failed
        state.next += 1
        if !isOver { state.listeners[state.next] = continuation }
        return (state.next, isOver)
      }
      guard !isOver else { return continuation.finish() }
      continuation.onTermination = { [weak self] _ in
        _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
      }
    }
  }

  func begin() {
    change { state in
      state.parts = [:]
      state.progress = TagProgress(phase: .downloading)
    }
  }

  /// Adds the packs that are to be downloaded and installed, with the size of the file that brings each.
  func need(_ packs: [(pack: ManifestPack, size: UInt64)]) {
    change { state in
      for (pack, size) in packs { Self.add(pack.id, size, pack.install == .unpacked ? pack.contentSize : 0, &state) }
    }
  }

  private static func add(_ id: String, _ size: UInt64, _ content: UInt64, _ state: inout State) {
    let part = Part(downloadSize: size, installSize: size.adding(content))
    state.parts[id] = part
    state.progress.downloadSize = state.progress.downloadSize.adding(part.downloadSize)
    state.progress.installSize = state.progress.installSize.adding(part.installSize)
  }

  func take(_ step: LibraryLoop.Step) {
    switch step {
    case .received(let id, let bytes, let size): downloaded(id, bytes, of: size)
    case .installing(let id, let progress): installing(id, progress)
    }
  }

  private func downloaded(_ id: String, _ bytes: UInt64, of size: UInt64) {
    change { state in
      guard var part = state.parts[id] else { return }
      if size != part.downloadSize {
        // Another file brings the pack: the full one instead of a delta.
        state.progress.downloaded = state.progress.downloaded.less(part.downloaded)
        state.progress.installed = state.progress.installed.less(part.installed)
        state.progress.downloadSize = state.progress.downloadSize.less(part.downloadSize)
        state.progress.installSize = state.progress.installSize.less(part.installSize)
        Self.add(id, size, part.installSize.less(part.downloadSize), &state)
        part = state.parts[id] ?? part
      }
      state.progress.downloaded = state.progress.downloaded.less(part.downloaded).adding(min(bytes, part.downloadSize))
      part.downloaded = min(bytes, part.downloadSize)
      state.parts[id] = part
      state.progress.phase = state.progress.downloaded == state.progress.downloadSize ? .installing : .downloading
    }
  }

  private func installing(_ id: String, _ progress: PackProgress) {
    change { state in
      guard let part = state.parts[id] else { return }
      let done: UInt64 =
        switch progress.phase {
        case .verifying: progress.done
        case .unpacking: part.downloadSize.adding(progress.done)
        default: part.installed
        }
      Self.set(done, of: id, &state)
    }
  }

  /// Records that a pack is installed.
  func installed(_ id: String) {
    guard let size = state.withLock({ $0.parts[id]?.downloadSize }) else { return }
    downloaded(id, size, of: size)
    change { state in Self.set(.max, of: id, &state) }
  }

  /// - Parameter bytes: The number of bytes done. The progress never goes back, even if another request starts the installation again.
  private static func set(_ bytes: UInt64, of id: String, _ state: inout State) {
    guard var part = state.parts[id] else { return }
    let done = max(part.installed, min(bytes, part.installSize))
    state.progress.installed = state.progress.installed.less(part.installed).adding(done)
    part.installed = done
    state.parts[id] = part
  }

  /// Ends the request and the streams of its listeners. If the phase is `waiting`, the streams continue, because the request may begin again.
  func end(_ phase: TagProgress.Phase) {
    change { state in
      state.progress.phase = phase
      state.parts = [:]
    }
    guard phase != .waiting else { return }
    let listeners = state.withLock { state in
      let listeners = state.listeners
      state.listeners = [:]
      return listeners
    }
    // Outside the lock, because a listener that ends takes the lock.
    for listener in listeners.values { listener.finish() }
  }

  private func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      let before = state.progress
      body(&state)
      guard state.progress != before else { return }
      // Inside the lock, so that no listener receives an earlier state last.
      for listener in state.listeners.values { listener.yield(state.progress) }
    }
  }

  deinit {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.finish() }
  }
}
