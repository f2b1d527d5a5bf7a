package import PackCrypto
package import PackDelivery
package import PackReading

/// What is simulated, and under which circumstances.
package struct SimulationSettings: Sendable {
  /// What happens first: the app is installed, updated, or the system looks for something new.
  package var event: DeliveryEvent
  /// What the server offers.
  package var release: SimulatedRelease
  /// What the device has of an earlier release; nil where it has nothing.
  package var earlier: SimulatedRelease?
  /// What the server offers from the middle of the event on; nil where nothing changes.
  package var later: SimulatedRelease?
  /// After how many files the server changes.
  package var changesAfter = 1
  /// What the Info.plist of the app says.
  package var rules: SystemRules
  /// The public keys that the app trusts.
  package var trusted: [SigningPublicKey]
  /// The keys of packs; nil where nothing is to be installed.
  package var keys: KeyRing?
  /// The packs that the app asks for at each of its starts.
  package var asked: Set<String> = []
  /// How fast files come.
  package var speed = NetworkSpeed.wifi
  /// Whether the device is in low power mode until the app was started for the first time here.
  package var isLowPower = false
  /// Whether the person switched in-app content off, so that nothing is downloaded before the first start.
  package var isContentOff = false
  /// Whether the extension plans without the numbers that the system tells it are left.
  package var ignoresAllowance = false
  /// Whether the extension takes a periodic request for an update, as one does that does not know a kind of request.
  package var misreadsRequest = false
  /// The file operation of the extension, from 1, at which it is killed; nil where it is not.
  package var extensionDeath: Int?
  /// What a call of the extension counts for, in milliseconds, besides what it waits.
  package var callRuntime: UInt64 = 100
  /// What the extension may have of memory, in bytes.
  package var memoryLimit: UInt64 = 6_000_000
  /// What a finding says that can be done about an error of the client; nil if nothing can.
  package var wording: @Sendable (PackError) -> String? = { $0.advice?.description }
  /// What goes wrong.
  package var faults: [SimulatedFault] = []
  /// The time of day at the beginning, in seconds since 1970; when the manifest was made where it is nil.
  package var start: Int64?

  /// Settings without any fault.
  package init(_ event: DeliveryEvent, of release: SimulatedRelease, rules: SystemRules, trusted: [SigningPublicKey], keys: KeyRing?) {
    self.event = event
    self.release = release
    self.rules = rules
    self.trusted = trusted
    self.keys = keys
  }
}
