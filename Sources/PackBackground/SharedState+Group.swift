#if canImport(BackgroundAssets)
  import BackgroundAssets
  import Foundation
  public import PackDelivery
  public import PackFormat

  extension SharedState {
    /// Opens what app and extension share, in the container of their app group: below its caches, of which no backup is made and which the system may
    /// empty when space is short, as it may with the files that it downloaded.
    ///
    /// - Parameter group: the identifier of the app group, `group.…`.
    /// - Throws: ``PackFormat/PackError/Code/noAppGroup``, or what ``SharedState/init(directory:policy:)`` throws.
    public init(group: String, policy: DeliveryPolicy = .init()) throws(PackError) {
      guard let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) else {
        throw PackError(
          .noAppGroup, "this process is not in the app group '\(group)'",
          advice: .developer("add the group under Signing & Capabilities to the app and to the extension"))
      }
      let caches = container.appendingPathComponent("Library/Caches", isDirectory: true)
      // The system makes it with the container; a person's cleaning program may have removed it.
      try? FileManager.default.createDirectory(at: caches, withIntermediateDirectories: true)
      try self.init(directory: caches.appendingPathComponent("deliveries", isDirectory: true).path, policy: policy)
    }
  }
#endif
