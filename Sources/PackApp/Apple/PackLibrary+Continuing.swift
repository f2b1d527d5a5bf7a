#if canImport(BackgroundTasks) && !os(macOS) && !os(tvOS) && !os(visionOS)
  import BackgroundTasks
  import Foundation

  extension PackLibrary {
    /// Makes packs usable, as ``ensure(_:)-(Collection<String>)`` does, and goes on when the app leaves the foreground: for packs whose download and
    /// installation take minutes. The system shows the progress, and the user can stop it there.
    ///
    /// Call it in the foreground, for something that the user did: otherwise the system refuses. Then, and where Info.plist does not permit it, this is
    /// ``ensure(_:)-(Collection<String>)``, and the reason is logged. Info.plist must list the app's identifier and `.packs.*` in
    /// `BGTaskSchedulerPermittedIdentifiers`.
    ///
    /// - Parameters:
    ///   - title: What is shown first: the name of the model or the level.
    ///   - subtitle: What is shown below: that it is downloaded.
    /// - Throws: As ``ensure(_:)-(Collection<String>)``. ``PackError/Code/cancelled`` if the user or the system stopped it; what has arrived is kept for
    ///   the next call.
    @available(iOS 26, *)
    public func ensure(_ ids: some Collection<String>, title: String, subtitle: String) async throws(PackError) {
      let ids = Array(ids)
      let shown = ContinuedTask(ids.map { progress(of: $0) })
      if let refusal = shown.begin(title, subtitle) {
        back.logger.record(.notice, .background, "not continued in the background", [.private("reason", refusal)])
      }
      do throws(PackError) {
        try await ensure(ids)
        shown.end(isDone: true)
      } catch {
        shown.end(isDone: false)
        throw error
      }
    }
  }

  /// A task that the system shows and lets run in the background.
  @available(iOS 26, *)
  private final class ContinuedTask: Sendable {
    private struct State {
      var task: BGContinuedProcessingTask?
      /// Whether the work is done; nil while it goes on.
      var isDone: Bool?
    }

    private let identifier = "\(Bundle.main.bundleIdentifier ?? "").packs.\(UUID().uuidString)"
    private let parts: [Progress]
    private let state = Monitor(State())

    init(_ parts: [Progress]) {
      self.parts = parts
    }

    /// Asks the system to begin now. Returns why it does not.
    func begin(_ title: String, _ subtitle: String) -> String? {
      // A handler for each task: the system ends an app that registers an identifier twice.
      let isPermitted = BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { @Sendable [self] task in
        (task as? BGContinuedProcessingTask).map(start)
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
      task.progress.totalUnitCount = 1000 * Int64(parts.count)
      for part in parts { task.progress.addChild(part, withPendingUnitCount: 1000) }
      // It is called for a user who stops it, too, so the downloads end.
      task.expirationHandler = { [parts] in
        for part in parts { part.cancel() }
      }
      let isDone = state.withLock { state in
        state.task = task
        return state.isDone
      }
      if let isDone { task.setTaskCompleted(success: isDone) }
    }

    func end(isDone: Bool) {
      let task = state.withLock { state in
        state.isDone = isDone
        return state.task
      }
      task?.setTaskCompleted(success: isDone)
    }
  }
#endif
