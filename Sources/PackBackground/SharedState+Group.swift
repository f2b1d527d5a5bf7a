#if canImport(BackgroundAssets)
  import BackgroundAssets
  public import Foundation

  extension SharedState {
    /// Opens the state that app and extension share in the container of their app group. It is in the container's caches: these are not backed up,
    /// and the system may delete them when space is low, like the files that it downloaded. The store is that of ``packs(in:)``.
    ///
    /// - Parameters:
    ///   - group: the identifier of the app group, `group.…`.
    ///   - policy: the policy for timing.
    ///   - logger: receives plans, and manifests that are accepted or refused.
    /// - Throws: ``PackFormat/PackError/Code/noAppGroup``, or the errors of ``SharedState/init(directory:policy:logger:)``.
    public init(group: String, policy: DeliveryPolicy = .init(), logger: (any PackLogger)? = nil) throws(PackError) {
      guard let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) else {
        throw PackError(
          .noAppGroup, "this process is not in the app group '\(group)'",
          advice: .developer("add the group under Signing & Capabilities to the app and to the extension"))
      }
      let caches = container.appendingPathComponent("Library/Caches", isDirectory: true)
      // The system creates it with the container; a cleaning app may have removed it.
      try? FileManager.default.createDirectory(at: caches, withIntermediateDirectories: true)
      try self.init(
        directory: caches.appendingPathComponent("deliveries", isDirectory: true).path, store: Self.packs(in: container).path,
        policy: policy,
        logger: logger)
    }

    /// Returns the directory of the store in the container of an app group: where a ``PackLibrary`` has it, and where the extension looks for what is
    /// installed.
    public static func packs(in container: URL) -> URL {
      container.appendingPathComponent("Library/Application Support/packer/packs", isDirectory: true)
    }
  }
#endif
