/// One edge of the state machine: where an event leads from a state, and why (Documentation/DELIVERY.md draws them).
///
/// An event that has no edge from a state comes late or twice, as callbacks of the system do: it is passed over, and changes nothing.
package struct DeliveryEdge: Hashable, Sendable {
  /// Where it starts.
  package let from: DeliveryState.Kind
  /// What happened.
  package let event: PackEvent.Kind
  /// Where it leads; nil where the pack is forgotten.
  package let to: DeliveryState.Kind?

  /// Every edge there is.
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
    // Other bytes: whatever is under way for the old ones is of no use any more. An installation is let finish; the next plan offers again.
    case (.installing, .offered): .passedOver
    case (_, .offered): .state(.notLoaded)

    // The device may turn out to have the bytes at any time: after a restored backup, or where a process died behind its installation.
    case (.ready, .found), (.obsolete, .found): .passedOver
    case (_, .found): .state(.ready)

    case (.obsolete, .unlisted): .passedOver
    case (_, .unlisted): .state(.obsolete)

    // Asking again for what failed or was cancelled starts it anew; elsewhere it is only remembered.
    case (.obsolete, .asked): .passedOver
    case (.failed, .asked): .state(.notLoaded)
    case (let state, .asked): .state(state)

    case (.notLoaded, .scheduled): .state(.scheduled)

    // A download that was given up, or believed forgotten, may come after all.
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
