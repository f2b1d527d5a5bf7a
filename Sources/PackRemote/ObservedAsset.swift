#if canImport(Observation)
  public import Observation

  /// The value of an asset as an observable object: views that read ``value`` update when it changes.
  ///
  /// A SwiftUI view stores it as `@State` and follows the asset in a task: `.task { await settings.follow() }`.
  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
  @MainActor
  @Observable
  public final class ObservedAsset<Value: Sendable> {
    /// The current value while ``follow()`` runs, otherwise the last value that it received.
    public private(set) var value: Value

    /// The asset.
    public nonisolated let asset: RemoteAsset<Value>

    /// Creates an observable object with the current value of the asset.
    public init(_ asset: RemoteAsset<Value>) {
      self.asset = asset
      value = asset.value
    }

    /// Updates ``value`` at each change of the asset, until the task is cancelled.
    public func follow() async {
      for await value in asset.updates { self.value = value }
    }
  }
#endif
