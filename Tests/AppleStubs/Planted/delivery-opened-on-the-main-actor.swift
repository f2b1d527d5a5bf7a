// expect: main actor-isolated
// into: Examples/iOSApp/Downloader

import PackBackground

// The system calls the extension on its own threads, and without `nonisolated` this belongs to the main actor.
enum PlantedDeliveries {
  static func open() throws(PackError) -> ExtensionDelivery { throw PackError(.noAppGroup, "planted") }
  static let part = BackgroundDelivery(group: Publisher.group, open: { () throws(PackError) in try open() })
}
