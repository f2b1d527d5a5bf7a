import PackDelivery
package import PackManifest

/// What a simulation came to.
package struct SimulationReport: Sendable {
  /// Everything that happened, in order.
  package var events: [TimelineEvent] = []
  /// One for each pack of the last manifest, in its order.
  package var packs: [PackOutcome] = []
  /// What must not happen.
  package var findings: [SimulationFinding] = []
  /// What somebody should know: faults that never struck, what was left out.
  package var notes: [String] = []
  /// What the extension took.
  package var cost = ExtensionCost()
  /// How often the app was started.
  package var launches = 0
  /// Milliseconds that passed.
  package var duration: UInt64 = 0

  /// What became of a pack.
  package struct PackOutcome: Hashable, Sendable {
    package let id: String
    package let version: UInt64
    package let delivery: DeliveryClass
    /// Its state, with the reason: `ready`, `not-loaded new`.
    package let state: String
    /// The same for a person.
    package let reason: String
    /// When it was ready, in milliseconds; nil where it was before, or is not.
    package let readyAt: UInt64?
    /// Whether it was here when the app was started for the first time in the simulation.
    package let wasHereAtLaunch: Bool
  }

  /// What the extension took, and what it may take.
  package struct ExtensionCost: Hashable, Sendable {
    /// How often it was woken.
    package var calls = 0
    /// Its file operations.
    package var operations = 0
    /// The milliseconds that its calls count for.
    package var runtime: UInt64 = 0
    /// How often it was not woken, because it had its time of a day.
    package var refusedCalls = 0
    /// The most of memory that a call needs, in bytes: an estimate from the size of the manifest, not a measurement.
    package var memory: UInt64 = 0

    /// What a day gives it, in milliseconds.
    package static let runtimeLimit: UInt64 = 600_000
  }
}

/// Something that must not happen to a release.
package struct SimulationFinding: Hashable, Sendable {
  /// What kind of fault it is, with a stable name.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A pack that should be on the device is missing from the plan, and nothing is done about it.
    case lost
    /// A pack is in a state that it does not leave.
    case stuck
    /// Content that the app version needs is not there.
    case missing
    /// The manifest is refused, by the system or by ours.
    case manifest
    /// The extension takes more than it is given.
    case cost
  }

  package let kind: Kind
  /// The fault: lower case, no period.
  package let message: String
  package let pack: String?
  /// What the system reported.
  package let error: SystemError?
  /// What to do about it.
  package let hint: String?
}
