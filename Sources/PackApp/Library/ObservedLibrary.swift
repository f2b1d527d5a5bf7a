#if canImport(Observation)
  public import Observation

  /// The packs of a library for SwiftUI views, from iOS 17 and macOS 14 on. For earlier systems there is `PublishedLibrary`.
  @available(iOS 17, macOS 14, tvOS 17, watchOS 10, visionOS 1, *)
  @MainActor
  @Observable
  public final class ObservedLibrary {
    /// The packs that the manifest offers, with their status.
    public private(set) var offers: [PackLibrary.Offer] = []
    /// The last error of ``ensure(_:)``, ``cancel(_:)``, ``remove(_:)`` or ``refresh()``. Set it to nil when it was shown.
    public var problem: PackError?
    /// Whether there is a ``problem``, for `alert(isPresented:error:actions:message:)`. Setting it to false removes the problem.
    public var hasProblem: Bool {
      get { problem != nil }
      set { if !newValue { problem = nil } }
    }
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

    /// Makes a pack usable: ``PackLibrary/ensure(_:)``. An error becomes the ``problem``.
    public func ensure(_ id: String) async { await report { () throws(PackError) in try await library.ensure(id) } }

    /// Cancels the download of a pack: ``PackLibrary/cancel(_:)``. An error becomes the ``problem``.
    public func cancel(_ id: String) async { await report { () throws(PackError) in try await library.cancel(id) } }

    /// Removes a pack: ``PackLibrary/remove(_:)``. An error becomes the ``problem``.
    public func remove(_ id: String) async { await report { () throws(PackError) in try await library.remove(id) } }

    /// Fetches the manifest: ``PackLibrary/refresh()``. An error becomes the ``problem``.
    public func refresh() async { await report { () throws(PackError) in try await library.refresh() } }

    private func report(_ body: () async throws(PackError) -> Void) async {
      do throws(PackError) {
        try await body()
      } catch {
        if error.code != .cancelled { problem = error }
      }
    }
  }
#endif
