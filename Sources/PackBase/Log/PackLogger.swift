/// A receiver of log events: `SystemLogger` on Apple platforms, or your own type anywhere.
///
/// Without a logger nothing is logged, and no event is made. Stores, downloads, shared states and the adapters of Background Assets take one when they
/// are created. Events are decisions and failures, never progress, and never keys or content.
public protocol PackLogger: Sendable {
  /// Receives an event, on the thread where it happened. It must be quick, and must not call the object that logs.
  func log(_ event: LogEvent)
}

extension Optional where Wrapped == any PackLogger {
  /// Logs an event if there is a logger. Otherwise the values are not computed.
  ///
  /// - Parameter message: a fixed text, so that no value can become part of it.
  package func record(
    _ level: LogLevel, _ category: LogCategory, _ message: StaticString, _ values: @autoclosure () -> [LogValue] = []
  ) {
    guard let self else { return }
    self.log(LogEvent(level, category, message, values()))
  }
}
