/// A transition of the state machine (drawn in Documentation/DELIVERY.md).
///
/// An event without a transition from the current state is late or repeated, as callbacks of the system can be. It is ignored and changes nothing.
package struct DeliveryEdge: Hashable, Sendable {
  /// The state before the event.
  package let from: DeliveryState.Kind
  /// The event.
  package let event: PackEvent.Kind
  /// The state after the event.
  package let to: DeliveryState.Kind

  /// All transitions.
  package static let all: [DeliveryEdge] = DeliveryState.Kind.allCases.flatMap { state in
    PackEvent.Kind.allCases.compactMap { event in
      destination(from: state, on: event).map { DeliveryEdge(from: state, event: event, to: $0) }
    }
  }

  /// The state machine. Returns nil if the event is ignored.
  static func destination(from state: DeliveryState.Kind, on event: PackEvent.Kind) -> DeliveryState.Kind? {
    switch (state, event) {
    // Other bytes: downloads of the old ones are no longer useful.
    case (_, .offered): .notLoaded

    // A request for a failed or cancelled pack starts it again; in other states the request is only recorded.
    case (.failed, .asked): .notLoaded
    case (let state, .asked): state

    case (.notLoaded, .scheduled): .scheduled

    // A download that was cancelled, failed or counted as lost may still arrive.
    case (.notLoaded, .began), (.scheduled, .began), (.paused, .began), (.failed, .began): .loading
    case (_, .arrived): .notLoaded

    case (.scheduled, .paused), (.loading, .paused), (.paused, .paused): .paused
    case (.scheduled, .demoted), (.loading, .demoted), (.paused, .demoted): .scheduled
    case (.scheduled, .turnedAway), (.loading, .turnedAway), (.paused, .turnedAway): .notLoaded
    case (.scheduled, .downloadFailed), (.loading, .downloadFailed), (.paused, .downloadFailed): .failed
    case (.scheduled, .forgotten), (.loading, .forgotten), (.paused, .forgotten): .notLoaded
    case (.notLoaded, .cancelled), (.scheduled, .cancelled), (.loading, .cancelled), (.paused, .cancelled), (.failed, .cancelled):
      .notLoaded

    case (_, .installFailed): .failed
    case (.failed, .retryDue): .notLoaded

    case (_, .scheduled), (_, .began), (_, .paused), (_, .demoted), (_, .turnedAway), (_, .downloadFailed),
      (_, .forgotten), (_, .cancelled), (_, .retryDue):
      nil
    }
  }
}
