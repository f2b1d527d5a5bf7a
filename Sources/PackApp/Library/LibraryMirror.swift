/// The calls of a view, whose errors become the ``problem`` of the mirror that it observes.
@MainActor
public protocol LibraryMirror: AnyObject {
  /// What it mirrors: a ``PackLibrary`` in the app, ``PreviewPacks`` in a preview.
  nonisolated var library: any PackProviding { get }
  /// The last error of one of its calls. Set it to nil when it was shown.
  var problem: PackError? { get set }
}

extension LibraryMirror {
  /// Whether there is a ``problem``, for `alert(isPresented:error:actions:message:)`. Setting it to false removes the problem.
  public var hasProblem: Bool {
    get { problem != nil }
    set { if !newValue { problem = nil } }
  }

  /// Makes a pack usable: ``PackLibrary/ensure(_:)-(String)``.
  public func ensure(_ id: String) async { await report { () throws(PackError) in try await library.ensure(id) } }

  /// Makes a pack readable while the rest of it arrives: ``PackLibrary/play(_:)``.
  public func play(_ id: String) async { await report { () throws(PackError) in try await library.play(id) } }

  /// Cancels the download of a pack: ``PackLibrary/cancel(_:)``.
  public func cancel(_ id: String) async { await report { () throws(PackError) in try await library.cancel(id) } }

  /// Removes a pack: ``PackLibrary/remove(_:)``.
  public func remove(_ id: String) async { await report { () throws(PackError) in try await library.remove(id) } }

  /// Fetches the manifest: ``PackLibrary/refresh()``.
  public func refresh() async { await report { () throws(PackError) in try await library.refresh() } }

  private func report(_ body: () async throws(PackError) -> Void) async {
    do throws(PackError) {
      try await body()
    } catch {
      // The view's own task, or its button.
      if error.code != .cancelled { problem = error }
    }
  }
}
