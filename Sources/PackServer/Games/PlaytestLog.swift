/// What games ask for while they run, and what goes wrong: counts for each game, and its last events.
final class PlaytestLog: Sendable {
  /// One thing that happened in a game.
  struct Event: Sendable {
    enum Kind: String, Sendable {
      /// A file was sent, or a browser had it already.
      case load
      /// There is no such file.
      case missing
      /// The server could not or would not send a file.
      case failed
      /// A page wanted something from another host.
      case foreign
      /// A script failed, or wrote an error to the console.
      case error
    }

    var kind: Kind
    /// The path, the address or the message.
    var text: String
    var status: Int?
    /// The length of the reply in bytes.
    var size: UInt64?
    /// The path that was probably meant, or the place of the error.
    var note: String?
    /// When it was asked for, since the start of the log; nil for now.
    var milliseconds: UInt64?
  }

  private struct History {
    var counts: [Event.Kind: Int] = [:]
    var sentSize: UInt64 = 0
    /// The last events, the first of which has the number `count - last.count`.
    var last: [Event] = []
    var count = 0
    /// When the phone's view last asked for news, in milliseconds.
    var watched: UInt64?
  }

  private let histories = Monitor<[String: History]>([:])
  private let start: ContinuousClock.Instant
  private let now: @Sendable () -> ContinuousClock.Instant

  /// The number of events that are kept of a game, and the largest size of their texts in bytes.
  static let mostEvents = 2000
  private static let longestText = 1000
  /// The phone's view asks for news about twice a second. One in the background asks once a second, or less often.
  private static let watchMilliseconds: UInt64 = 5000

  init(now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }) {
    self.now = now
    start = now()
  }

  /// The time since the start of the log.
  var milliseconds: UInt64 { (now() - start).microseconds / 1000 }

  // MARK: Noting

  func note(_ event: Event, in id: String) {
    var event = event
    event.milliseconds = event.milliseconds ?? milliseconds
    event.text = LoadRecorder.shortened(event.text, Self.longestText)
    event.note = event.note.map { LoadRecorder.shortened($0, Self.longestText) }
    histories.withLock { histories in
      histories[id, default: History()].counts[event.kind, default: 0] += 1
      histories[id]?.sentSize += event.size ?? 0
      histories[id]?.count += 1
      histories[id]?.last.append(event)
      // Half of them at once, so that not every event moves all others.
      if histories[id]?.last.count ?? 0 > Self.mostEvents { histories[id]?.last.removeFirst(Self.mostEvents / 2) }
    }
  }

  /// Forgets the counts and events of a game whose content is another one now. The numbers of its events go on.
  func forget(_ id: String) {
    histories.withLock { histories in
      guard var history = histories[id] else { return }
      (history.counts, history.sentSize, history.last) = ([:], 0, [])
      histories[id] = history
    }
  }

  /// Whether somebody looks at the phone's view of a game.
  func isWatched(_ id: String) -> Bool {
    let time = milliseconds
    return histories.withLock { histories in
      histories[id]?.watched.map { time - min($0, time) < Self.watchMilliseconds } ?? false
    }
  }

  // MARK: Telling

  /// Returns the counts of all games that were asked for anything.
  func summary() -> JSON {
    let histories = histories.withLock { $0 }
    return .sorted(histories.filter { !$0.value.counts.isEmpty }.mapValues(Self.summary))
  }

  private static func summary(_ history: History) -> JSON {
    var members: [String: JSON?] = ["sent": .number(history.sentSize)]
    for (kind, count) in history.counts { members[kind.rawValue] = JSON.number(count) }
    return .sorted(members)
  }

  /// Returns the events of a game from a number on, and the number of the next one; or only that number if none is given. Notes that the phone's view
  /// of the game is open.
  func news(of id: String, since number: Int?) -> [String: JSON?] {
    let time = milliseconds
    let history = histories.withLock { histories in
      histories[id, default: History()].watched = time
      return histories[id, default: History()]
    }
    let first = history.count - history.last.count
    let events = number.map { history.last.dropFirst(max(0, $0 - first)) } ?? []
    return [
      "next": JSON.number(history.count),
      "events": .list(
        events.map { event in
          .sorted([
            "kind": .text(event.kind.rawValue), "text": .text(event.text), "status": JSON.number(event.status),
            "size": JSON.number(event.size), "note": JSON.text(event.note), "ms": .number(event.milliseconds ?? 0),
          ])
        }),
    ]
  }
}
