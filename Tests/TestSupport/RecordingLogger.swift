/// A logger that keeps all events.
package final class RecordingLogger: PackLogger {
  private let recorded = Monitor<[LogEvent]>([])

  package init() {}

  package func log(_ event: LogEvent) {
    recorded.withLock { $0.append(event) }
  }

  /// The events so far.
  package var events: [LogEvent] { recorded.withLock { $0 } }

  /// The lines of the events since the last call, without private values.
  package func take() -> [String] {
    recorded.withLock { events in
      defer { events = [] }
      return events.map { "\($0.level) \($0.category.rawValue): \($0)" }
    }
  }
}
