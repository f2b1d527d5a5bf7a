#if canImport(OSLog)
  import OSLog

  /// The system's log. Console and `log stream` show it; private values appear only if a developer's configuration profile permits it.
  ///
  /// ```swift
  /// let store = try await AssetStore(root: root, keys: keys, trusting: trusted, logger: SystemLogger(subsystem: "com.example.games"))
  /// ```
  public struct SystemLogger: PackLogger {
    /// The subsystem of all messages.
    public let subsystem: String

    /// Creates a logger. Categories are those of the events.
    ///
    /// - Parameter subsystem: a name that identifies the app or the extension, usually its bundle identifier.
    public init(subsystem: String) {
      self.subsystem = subsystem
    }

    /// Writes an event to the system's log.
    public func log(_ event: LogEvent) {
      let shown = event.values.filter { !$0.isPrivate }.map { " \($0.name)=\($0.text)" }.joined()
      let hidden = event.values.filter(\.isPrivate).map { "\($0.name)=\($0.text)" }.joined(separator: " ")
      let logger = Logger(subsystem: subsystem, category: event.category.rawValue)
      let level = OSLogType(event.level)
      // The privacy of a part of a message must be known at compile time, so there is one part for each.
      if hidden.isEmpty {
        logger.log(level: level, "\(event.message, privacy: .public)\(shown, privacy: .public)")
      } else {
        logger.log(level: level, "\(event.message, privacy: .public)\(shown, privacy: .public) \(hidden, privacy: .private)")
      }
    }
  }

  extension OSLogType {
    fileprivate init(_ level: LogLevel) {
      self =
        switch level {
        case .debug: .debug
        case .info: .info
        case .notice: .default
        case .error: .error
        }
    }
  }
#endif
