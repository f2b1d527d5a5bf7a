/// A transition of the state machine (drawn in Documentation/DELIVERY.md).
///
/// An event without a transition from the current state is late or repeated, as callbacks of the system can be. It is ignored and changes nothing.
package struct DeliveryEdge: Hashable, Sendable {
  /// The state before the event.
  package let from: DeliveryState.Kind
  /// The event.
  package let event: PackEvent.Kind
  /// The state after the event; nil if the record of the pack is removed.
  package let to: DeliveryState.Kind?

  /// All transitions.
  package static let all: [DeliveryEdge] = DeliveryState.Kind.allCases.flatMap { state in
    PackEvent.Kind.allCases.compactMap { event in
      switch destination(from: state, on: event) {
      case .passedOver: nil
      case .forgotten: DeliveryEdge(from: state, event: event, to: nil)
      case .state(let target): DeliveryEdge(from: state, event: event, to: target)
      }
    }
  }

  enum Destination {
    case passedOver
    case forgotten
    case state(DeliveryState.Kind)
  }

  /// The state machine.
  static func destination(from state: DeliveryState.Kind, on event: PackEvent.Kind) -> Destination {
    switch (state, event) {
    // Other bytes: downloads of the old ones are no longer useful. A running installation is allowed to finish; the next plan offers the new bytes
    // again.
    case (.installing, .offered): .passedOver
    case (_, .offered): .state(.notLoaded)

    // The device may have the bytes at any time: after a backup was restored, or if a process ended right after its installation.
    case (.ready, .found), (.obsolete, .found): .passedOver
    case (_, .found): .state(.ready)

    case (.obsolete, .unlisted): .passedOver
    case (_, .unlisted): .state(.obsolete)

    // A request for a failed or cancelled pack starts it again; in other states the request is only recorded.
    case (.obsolete, .asked): .passedOver
    case (.failed, .asked): .state(.notLoaded)
    case (let state, .asked): .state(state)

    case (.notLoaded, .scheduled): .state(.scheduled)

    // A download that was cancelled, failed or counted as lost may still arrive.
    case (.notLoaded, .began), (.scheduled, .began), (.paused, .began), (.failed, .began): .state(.loading)
    case (.notLoaded, .arrived), (.scheduled, .arrived), (.loading, .arrived), (.paused, .arrived), (.failed, .arrived):
      .state(.toBeTransferred)

    case (.scheduled, .paused), (.loading, .paused), (.paused, .paused): .state(.paused)
    case (.scheduled, .demoted), (.loading, .demoted), (.paused, .demoted): .state(.scheduled)
    case (.scheduled, .turnedAway), (.loading, .turnedAway), (.paused, .turnedAway): .state(.notLoaded)
    case (.scheduled, .downloadFailed), (.loading, .downloadFailed), (.paused, .downloadFailed): .state(.failed)
    case (.scheduled, .forgotten), (.loading, .forgotten), (.paused, .forgotten): .state(.notLoaded)
    case (.notLoaded, .cancelled), (.scheduled, .cancelled), (.loading, .cancelled), (.paused, .cancelled), (.failed, .cancelled):
      .state(.notLoaded)

    case (.toBeTransferred, .installBegan): .state(.installing)
    case (.installing, .installed): .state(.ready)
    case (.installing, .installPutOff): .state(.toBeTransferred)
    case (.installing, .installFailed): .state(.failed)
    case (.installing, .interrupted): .state(.toBeTransferred)

    case (.toBeTransferred, .purged), (.installing, .purged), (.ready, .purged): .state(.notLoaded)
    case (.failed, .retryDue): .state(.notLoaded)
    case (.obsolete, .removed): .forgotten

    case (_, .scheduled), (_, .began), (_, .arrived), (_, .paused), (_, .demoted), (_, .turnedAway), (_, .downloadFailed),
      (_, .forgotten), (_, .cancelled), (_, .installBegan), (_, .installed), (_, .installPutOff), (_, .installFailed),
      (_, .interrupted), (_, .purged), (_, .retryDue), (_, .removed):
      .passedOver
    }
  }
}
