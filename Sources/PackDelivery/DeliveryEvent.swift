/// Why downloads are planned now.
public enum DeliveryEvent: String, Hashable, Sendable, CaseIterable {
  /// The app was installed, and was not started yet.
  case install
  /// The app was updated, and was not started since.
  case update
  /// The system looks for something new in the background.
  case periodic
  /// The app runs: at its start, when it comes to the foreground, or because somebody asked for a pack.
  case launch

  /// Whether the system takes essential downloads now, for which the app has to wait.
  public var permitsEssential: Bool { self == .install || self == .update }
}
