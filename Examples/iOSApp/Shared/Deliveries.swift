import Foundation
import PackBackground

/// The state of deliveries, shared by app and extension. The system calls the extension on its own threads, so this belongs to no actor.
nonisolated enum Deliveries {
  /// Opens the records and files in the container of the app group.
  static func state() throws(PackError) -> SharedState {
    try SharedState(group: Publisher.group, logger: logger)
  }

  /// The system's log, for app and extension.
  static let logger = SystemLogger(subsystem: Bundle.main.bundleIdentifier ?? "com.example.games")

  /// The work of the extension.
  static let extensionPart = BackgroundDelivery(group: Publisher.group, logger: logger, open: open)

  @Sendable private static func open() throws(PackError) -> ExtensionDelivery {
    let keys = [try SigningPublicKey(text: Publisher.publicKey)]
    return ExtensionDelivery(state: try state(), isForDevice: Publisher.isForDevice) { (document) throws(PackError) in
      try document.verify(trusting: keys).manifest
    }
  }
}
