import PackWork

/// Who does something in a simulation.
package enum TimelineActor: String, Hashable, Sendable, CaseIterable {
  /// The service that downloads, with its rules.
  case system
  /// The downloader extension.
  case `extension`
  /// The app.
  case app
  /// Who publishes the release.
  case server
}

/// Something that happened.
package struct TimelineEvent: Hashable, Sendable {
  /// Milliseconds since the beginning.
  package let time: UInt64
  package let actor: TimelineActor
  /// What happened, for a person.
  package let text: String
  /// The pack it was about; nil where it was about none, or several.
  package let pack: String?
  /// What the system reported, where it would have reported an error.
  package let error: SystemError?
  /// What ours did about it.
  package let remedy: String?
  /// Whether the fault was asked for. One that was not comes from the release.
  package let isInjected: Bool
}

/// Everything that happened, in order.
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

  /// Whether what happens is part of the story. What made the device what it is at the beginning is not.
  package func setRecording(_ isRecording: Bool) {
    state.withLock { $0.isRecording = isRecording }
  }

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
