extension StoreEvent {
  /// The event for a log.
  package var logEvent: LogEvent {
    switch self {
    case .adopted(let version): LogEvent(.notice, .store, "manifest accepted", [.public("version", version)])
    case .installed(let pack, let cost):
      LogEvent(.notice, .store, "installed", pack.logValues + [.public("written", cost.written)])
    case .opened(let pack): LogEvent(.notice, .store, "opened", pack.logValues)
    case .activated(let pack): LogEvent(.notice, .store, "trial began", pack.logValues)
    case .confirmed(let pack): LogEvent(.notice, .store, "confirmed", pack.logValues)
    case .rolledBack(let id, let version, let current, let reason):
      LogEvent(
        .error, .store, "rolled back",
        [
          .public("pack", id), .public("from", version), .public("to", current.map { "\($0.version)" } ?? "none"),
          .public("reason", reason),
        ])
    case .purged(let pack, let reason): LogEvent(.notice, .store, "purged", pack.logValues + [.public("reason", reason)])
    case .removed(let id): LogEvent(.notice, .store, "removed", [.public("pack", id)])
    case .found(let finding):
      LogEvent(
        finding.isRepaired ? .notice : .error, .store, "repair",
        [
          .public("finding", finding.kind.rawValue), .public("pack", finding.pack ?? "none"),
          .public("repaired", finding.isRepaired ? "yes" : "no"), .private("text", finding.text),
        ])
    }
  }
}

extension InstalledPack {
  fileprivate var logValues: [LogValue] {
    [.public("pack", id), .public("version", version), .public("mode", mode.rawValue), .public("bytes", sizeOnDevice)]
  }
}
