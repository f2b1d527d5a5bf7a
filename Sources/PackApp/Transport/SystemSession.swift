#if os(iOS) || os(tvOS) || os(visionOS)
  import Foundation
  import Network

  /// A background session of the system. All decisions about its tasks are those of ``BackgroundTransport``.
  ///
  /// A process may have only one session object with an identifier, and ending it would end its tasks. So it stays until the process ends, and a library
  /// that is created again uses it again.
  final class SystemSession: NSObject, BackgroundSession, URLSessionDownloadDelegate, @unchecked Sendable {
    private struct State {
      var session: URLSession?
      var listener: (any BackgroundSessionListener)?
      var monitor: NWPathMonitor?
    }

    private static let sessions = Monitor<[String: SystemSession]>([:])
    private let identifier: String
    private let options: URLSessionTransport.Options
    private let state = Monitor(State())

    /// Whether this process has background sessions. An extension would need a container that it shares with the app, and the simulator does not suspend
    /// and start apps as a device does (developer.apple.com/forums/thread/14855).
    static var isAvailable: Bool {
      #if targetEnvironment(simulator)
        false
      #else
        Bundle.main.bundleURL.pathExtension != "appex"
      #endif
    }

    /// Returns the session with an identifier. It does nothing yet.
    static func named(_ identifier: String, options: URLSessionTransport.Options) -> SystemSession {
      sessions.withLock { sessions in
        if let session = sessions[identifier] { return session }
        let session = SystemSession(identifier, options)
        sessions[identifier] = session
        return session
      }
    }

    private init(_ identifier: String, _ options: URLSessionTransport.Options) {
      self.identifier = identifier
      self.options = options
      super.init()
    }

    private var session: URLSession {
      state.withLock { state in
        if let session = state.session { return session }
        // The queue that the session makes is a serial one.
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        state.session = session
        return session
      }
    }

    private var configuration: URLSessionConfiguration {
      let configuration = options.configured(.background(withIdentifier: identifier))
      configuration.sessionSendsLaunchEvents = true
      // It would hold for all tasks, also for a pack that a person waits for. The system decides so itself about tasks that begin in the background.
      configuration.isDiscretionary = false
      // The system repeats a request that timed out, until this number of seconds has passed.
      configuration.timeoutIntervalForResource = 86_400
      return configuration
    }

    private var listener: (any BackgroundSessionListener)? { state.withLock { $0.listener } }

    // MARK: The session

    func connect(_ listener: any BackgroundSessionListener) {
      // A new session delivers at once.
      state.withLock { state in if state.session == nil { state.listener = listener } }
      let queue = session.delegateQueue
      // On the queue of all callbacks, so that none to an earlier listener is going on.
      queue.addOperation { [state] in state.withLock { $0.listener = listener } }
      let monitor = NWPathMonitor()
      monitor.pathUpdateHandler = { path in
        let now = NetworkPath(
          // Another connection may activate one that needs it.
          isAvailable: path.status != .unsatisfied,
          // It may be the one to fall back to.
          isCellular: path.usesInterfaceType(.cellular) && !path.usesInterfaceType(.wifi) && !path.usesInterfaceType(.wiredEthernet),
          isExpensive: path.isExpensive, isConstrained: path.isConstrained)
        queue.addOperation { listener.network(is: now) }
      }
      monitor.start(queue: .global())
      state.withLock { state in
        state.monitor?.cancel()
        state.monitor = monitor
      }
    }

    func tasks() async -> [any BackgroundSessionTask] {
      let tasks = await session.allTasks
      // The ends of those that have completed are in the queue.
      await withCheckedContinuation { continuation in session.delegateQueue.addBarrierBlock { continuation.resume() } }
      return tasks.compactMap { $0.state == .completed ? nil : $0 as? URLSessionDownloadTask }
    }

    func start(_ request: URLRequest, label: String, size: UInt64, priority: Float) -> any BackgroundSessionTask {
      let task = session.downloadTask(with: request)
      task.taskDescription = label
      task.countOfBytesClientExpectsToReceive = Int64(clamping: size)
      task.priority = priority
      task.resume()
      return task
    }

    // MARK: Its delegate

    func urlSession(
      _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64, totalBytesWritten: Int64,
      totalBytesExpectedToWrite: Int64
    ) {
      listener?.task(downloadTask, received: totalBytesWritten, expected: totalBytesExpectedToWrite)
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
      listener?.task(downloadTask, finished: location.path)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      guard let task = task as? URLSessionDownloadTask else { return }
      listener?.task(task, completed: error)
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
      listener?.deliveredEvents()
      Task { @MainActor [identifier] in RelaunchHandlers.call(for: identifier) }
    }
  }
#endif
