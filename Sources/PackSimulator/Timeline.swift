/// An actor in a simulation.
package enum TimelineActor: String, Hashable, Sendable, CaseIterable {
  /// The download service of the system, with its rules.
  case system
  /// The downloader extension.
  case `extension`
  /// The app.
  case app
  /// The server with the release.
  case server
}

/// An event of a simulation.
package struct TimelineEvent: Hashable, Sendable {
  /// The time in milliseconds since the beginning.
  package let time: UInt64
  package let actor: TimelineActor
  /// The event, for a person.
  package let text: String
  /// The pack of the event; nil if it is about no pack or several.
  package let pack: String?
  /// The error that the system would report, if any.
  package let error: SystemError?
  /// The reaction of our code.
  package let remedy: String?
  /// Whether the fault was requested. Other faults come from the release.
  package let isInjected: Bool
}

/// All events of a simulation, in order.
package final class Timeline: Sendable {
  private struct State {
    var events: [TimelineEvent] = []
    var isRecording = true
  }

  private let clock: VirtualClock
  private let state = Monitor(State())

  package init(_ clock: VirtualClock) {
    self.clock = clock
  }

  package var events: [TimelineEvent] { state.withLock { $0.events } }

  /// Sets whether events are recorded. The preparation of the device is not recorded.
  package func setRecording(_ isRecording: Bool) {
    state.withLock { $0.isRecording = isRecording }
  }

  /// Records an event at the current time.
  package func tell(
    _ actor: TimelineActor, _ text: String, pack: String? = nil, error: SystemError? = nil, remedy: String? = nil, isInjected: Bool = false
  ) {
    let time = clock.milliseconds
    state.withLock { state in
      guard state.isRecording else { return }
      state.events.append(
        TimelineEvent(time: time, actor: actor, text: text, pack: pack, error: error, remedy: remedy, isInjected: isInjected))
    }
  }
}

extension TimelineEvent {
  package var json: JSON {
    [
      "type": "event", "milliseconds": .number(time), "actor": .text(actor.rawValue), "text": .text(text), "pack": .text(pack),
      "baCode": .number(error?.code), "error": .text(error?.name), "remedy": .text(remedy), "injected": .flag(isInjected),
    ]
  }
}
