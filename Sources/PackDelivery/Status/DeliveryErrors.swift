extension PackError.Code {
  /// The other process held the lock of the shared state for too long. No data was lost; the next plan detects the current state.
  public static let stateBusy = Self(rawValue: "state-busy")
  /// A record of the shared state cannot be read. The next plan recreates it from what is on the device.
  public static let damagedState = Self(rawValue: "damaged-state")
}
