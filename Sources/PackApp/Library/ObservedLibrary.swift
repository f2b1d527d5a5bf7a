#if canImport(Observation)
  public import Observation

  /// The packs of a library for SwiftUI views, from iOS 17 and macOS 14 on. For earlier systems there is `PublishedLibrary`.
  @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
  @MainActor
  @Observable
  public final class ObservedLibrary: LibraryMirror {
    /// The packs that the manifest offers, with their status.
    public private(set) var offers: [PackLibrary.Offer] = []
    /// The last error of one of its calls. Set it to nil when it was shown.
    public var problem: PackError?
    /// What it mirrors: a ``PackLibrary`` in the app, ``PreviewPacks`` in a preview.
    @ObservationIgnored public nonisolated let library: any PackProviding
    @ObservationIgnored private var listening: Task<Void, Never>?

    /// Creates a mirror, which is updated until it is released.
    public init(_ library: some PackProviding) {
      self.library = library
      let lists = library.lists()
      listening = Task { [weak self] in
        for await offers in lists { self?.offers = offers }
      }
    }

    deinit {
      listening?.cancel()
    }
  }
#endif
