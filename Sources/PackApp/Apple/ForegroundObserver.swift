#if canImport(BackgroundAssets)
  import Foundation

  /// Calls a function whenever the app comes to the foreground, until it is released.
  final class ForegroundObserver: Sendable {
    /// The notifications of UIKit and AppKit, by name, so that neither is linked.
    #if os(macOS)
      private static let name = "NSApplicationDidBecomeActiveNotification"
    #else
      private static let name = "UIApplicationWillEnterForegroundNotification"
    #endif

    // Only given back to the notification center.
    nonisolated(unsafe) private let token: any NSObjectProtocol

    init(_ body: @escaping @Sendable () -> Void) {
      unsafe token = NotificationCenter.default.addObserver(forName: Notification.Name(Self.name), object: nil, queue: nil) { _ in body() }
    }

    deinit {
      unsafe NotificationCenter.default.removeObserver(token)
    }
  }
#endif
