#if canImport(Darwin) && !os(macOS)
  import Foundation

  /// Activities of Foundation, which need no other framework and also work in extensions.
  enum ExpiringActivity {
    private static let reason = "App and extension share files that are being changed."

    /// Returns nil if the process is about to be suspended. Blocks until the system has answered.
    static func begin() -> ProcessActivity? {
      let isPermitted = Monitor<Bool?>(nil)
      let (answered, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      // Called again, on another thread, when the time is up while the first call still runs. The work ends within milliseconds then.
      ProcessInfo.processInfo.performExpiringActivity(withReason: reason) { isExpired in
        let isFirst = isPermitted.withLock { isPermitted in
          guard isPermitted == nil else { return false }
          isPermitted = !isExpired
          return true
        }
        guard isFirst else { return }
        answered.signal()
        if !isExpired { ended.wait() }
      }
      answered.wait()
      return isPermitted.withLock { $0 } == true ? ProcessActivity { ended.signal() } : nil
    }
  }
#endif
