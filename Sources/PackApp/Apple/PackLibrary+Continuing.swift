#if canImport(BackgroundTasks) && !os(macOS) && !os(tvOS) && !os(visionOS) && !targetEnvironment(macCatalyst)
  import BackgroundTasks
  import Foundation

  extension PackLibrary {
    /// Makes packs usable, as ``ensure(_:)-(Collection<String>)`` does, and goes on when the app leaves the foreground: for packs whose download and
    /// installation take minutes. The system shows the progress, and the user can stop it there.
    ///
    /// Call it in the foreground, for something that the user did: otherwise the system refuses. Then, and where Info.plist does not permit it, this is
    /// ``ensure(_:)-(Collection<String>)``, and the reason is logged. Info.plist must list the app's identifier and `.packs.*` in
    /// `BGTaskSchedulerPermittedIdentifiers`. Nothing is shown if all packs are ready.
    ///
    /// - Parameters:
    ///   - title: What is shown first: the name of the model or the level.
    ///   - subtitle: What is shown below: that it is downloaded.
    /// - Throws: As ``ensure(_:)-(Collection<String>)``. ``PackError/Code/cancelled`` if the user or the system stopped it; what has arrived is kept for
    ///   the next call. The system may stop what stands still, such as a download without a network.
    @available(iOS 26, *)
    public func ensure(_ ids: some Collection<String>, title: String, subtitle: String) async throws(PackError) {
      let ids = Array(ids)
      guard await !areReady(ids) else { return try await ensure(ids) }
      let shown = ContinuedTask(ids) { [weak back] in
        Task { for id in ids { try? await back?.cancel(id) } }
      }
      if let refusal = shown.begin(title, subtitle) {
        back.logger.record(.notice, .background, "not continued in the background", [.private("reason", refusal)])
      }
      let downloads = ids.map { id in
        Task {
          for await status in status(of: id) {
            switch status {
            case .downloading(let received, let size), .playable(_, let received, let size, _): shown.downloaded(id, received, of: size)
            default: break
            }
          }
        }
      }
      let installations = (back as? LibraryLoop)?.steps.handle { step in
        if case .installing(let id, let progress) = step { shown.installed(id, progress) }
      }
      defer {
        for download in downloads { download.cancel() }
        withExtendedLifetime(installations) {}
      }
      do throws(PackError) {
        try await ensure(ids)
        shown.end(isDone: true)
      } catch {
        shown.end(isDone: false)
        throw error
      }
    }

    private func areReady(_ ids: [String]) async -> Bool {
      for id in ids {
        guard case .ready = await back.status(of: id) else { return false }
      }
      return true
    }
  }

  /// A task that the system shows and lets run in the background.
  @available(iOS 26, *)
  private final class ContinuedTask: Sendable {
    private struct State {
      var task: BGContinuedProcessingTask?
      /// What is done of each pack, in thousandths.
      var parts: [String: Int64]
      /// Whether the work is done; nil while it goes on.
      var isDone: Bool?

      func show() { task?.progress.completedUnitCount = parts.values.reduce(0, +) }
    }

    /// The thousandths of a pack when it is downloaded, when it is checked, and when it is unpacked.
    private static let (downloaded, checked, unpacked) = (600.0, 750.0, 990.0)

    private let identifier = "\(Bundle.main.bundleIdentifier ?? "").packs.\(UUID().uuidString)"
    private let stop: @Sendable () -> Void
    private let state: Monitor<State>

    init(_ ids: [String], stop: @escaping @Sendable () -> Void) {
      self.stop = stop
      state = Monitor(State(parts: Dictionary(ids.map { ($0, 0) }) { first, _ in first }))
    }

    /// Asks the system to begin now. Returns why it does not.
    func begin(_ title: String, _ subtitle: String) -> String? {
      // A handler for each task: the system ends an app that registers an identifier twice. It keeps them, so they keep nothing.
      let isPermitted = BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { @Sendable [weak self] task in
        guard let self, let task = task as? BGContinuedProcessingTask else { return task.setTaskCompleted(success: true) }
        start(task)
      }
      guard isPermitted else { return "Info.plist does not permit \(identifier)" }
      let request = BGContinuedProcessingTaskRequest(identifier: identifier, title: title, subtitle: subtitle)
      // What waits for other tasks would be shown when the work is done.
      request.strategy = .fail
      do {
        try BGTaskScheduler.shared.submit(request)
        return nil
      } catch {
        return error.localizedDescription
      }
    }

    private func start(_ task: BGContinuedProcessingTask) {
      // It is called for a user who stops it, too, so the downloads end.
      task.expirationHandler = stop
      let isDone = state.withLock { state in
        task.progress.totalUnitCount = 1000 * Int64(state.parts.count)
        if state.isDone == nil { state.task = task }
        state.show()
        return state.isDone
      }
      if let isDone { task.setTaskCompleted(success: isDone) }
    }

    func downloaded(_ id: String, _ received: UInt64, of size: UInt64) {
      set(id, size == 0 ? 0 : Self.downloaded * Double(min(received, size)) / Double(size))
    }

    func installed(_ id: String, _ progress: PackProgress) {
      let share = progress.total == 0 ? 0 : Double(min(progress.done, progress.total)) / Double(progress.total)
      switch progress.phase {
      case .unpacking: set(id, Self.checked + (Self.unpacked - Self.checked) * share)
      case .syncing: set(id, Self.unpacked)
      default: set(id, Self.downloaded + (Self.checked - Self.downloaded) * share)
      }
    }

    private func set(_ id: String, _ thousandths: Double) {
      state.withLock { state in
        guard state.parts[id] != nil else { return }
        state.parts[id] = Int64(thousandths)
        state.show()
      }
    }

    func end(isDone: Bool) {
      let task = state.withLock { state in
        defer { state.task = nil }
        state.isDone = isDone
        if isDone { state.parts = state.parts.mapValues { _ in 1000 } }
        state.show()
        return state.task
      }
      task?.setTaskCompleted(success: isDone)
    }
  }
#endif
