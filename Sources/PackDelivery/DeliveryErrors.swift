public import PackFormat

extension PackError.Code {
  /// The other process held the shared state for longer than may be waited. Nothing was lost; the next plan finds what there is.
  public static let stateBusy = Self(rawValue: "state-busy")
  /// A record of the shared state cannot be read. The next plan makes it anew from what is on the device.
  public static let damagedState = Self(rawValue: "damaged-state")
}
