/// The settings of a simulation.
package struct SimulationSettings: Sendable {
  /// The first event: the app is installed or updated, or the system checks for new packs.
  package var event: DeliveryEvent
  /// The release on the server.
  package var release: SimulatedRelease
  /// The earlier release on the device; nil if there is none.
  package var earlier: SimulatedRelease?
  /// The release that replaces `release` on the server during the event; nil if the server does not change.
  package var later: SimulatedRelease?
  /// The number of downloaded files after which the server changes.
  package var changesAfter = 1
  /// The rules in the Info.plist of the app.
  package var rules: SystemRules
  /// The keys that the app embeds.
  package var trusted: TrustedKeys
  /// The keys of the packs; nil if no pack is to be installed.
  package var keys: KeyRing?
  /// What decides which packs are for the device.
  package var device: DeviceProfile
  /// The packs that the app requests at each start.
  package var asked: Set<String> = []
  /// The tags that the app requests at each start. It fetches the catalogue that lists their packs.
  package var tags: Set<String> = []
  /// The network.
  package var link = NetworkLink.usual
  /// Whether the device is in low power mode until the first start of the app.
  package var isLowPower = false
  /// Whether in-app content is switched off, so that nothing is downloaded before the first start.
  package var isContentOff = false
  /// Whether the extension plans without the remaining allowances that the system gives it.
  package var ignoresAllowance = false
  /// Whether the extension treats a periodic request as an update, like an extension that does not know this kind of request.
  package var misreadsRequest = false
  /// The number of the file operation, from 1, before which the extension is killed; nil if it is not killed.
  package var extensionDeath: Int?
  /// The accounted time of a call of the extension in milliseconds, without its waits.
  package var callRuntime: UInt64 = 100
  /// The memory limit of the extension, in bytes.
  package var memoryLimit: UInt64 = 6_000_000
  /// Returns the advice that a finding gives about an error of the client; nil if there is none.
  package var wording: @Sendable (PackError) -> String? = { $0.advice?.description }
  /// The requested faults.
  package var faults: [SimulatedFault] = []
  /// The date and time at the beginning, in seconds since 1970. If nil, the time at which the manifest was issued, or
  /// later if the preparation of the device ends later.
  package var start: Int64?

  /// Creates settings without faults.
  package init(_ event: DeliveryEvent, of release: SimulatedRelease, rules: SystemRules, trusted: TrustedKeys, keys: KeyRing?) {
    self.event = event
    self.release = release
    self.rules = rules
    self.trusted = trusted
    self.keys = keys
    device = release.usualDevice
  }
}
