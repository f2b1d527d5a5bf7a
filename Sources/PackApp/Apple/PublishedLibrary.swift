#if canImport(Combine)
  public import Combine

  /// The packs of a library for SwiftUI views before iOS 17 and macOS 14. For later systems there is `ObservedLibrary`.
  @MainActor
  public final class PublishedLibrary: ObservableObject, LibraryMirror {
    /// The packs that the manifest offers, with their status.
    @Published public private(set) var offers: [PackLibrary.Offer] = []
    /// The last error of one of its calls. Set it to nil when it was shown.
    @Published public var problem: PackError?
    /// What it mirrors: a ``PackLibrary`` in the app, ``PreviewPacks`` in a preview.
    public nonisolated let library: any PackProviding
    private var listening: Task<Void, Never>?

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
