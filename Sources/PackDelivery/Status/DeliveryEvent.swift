/// The reason for planning downloads now.
public enum DeliveryEvent: String, Hashable, Sendable, CaseIterable {
  /// The app was installed and has not been started yet.
  case install
  /// The app was updated and has not been started since.
  case update
  /// The system checks for new content in the background.
  case periodic
  /// The app is running: it was started, came to the foreground, or needs a pack.
  case launch

  /// Whether the system now accepts essential downloads, which the app has to wait for.
  public var permitsEssential: Bool { self == .install || self == .update }
}
