#if canImport(Observation)
  public import Observation

  /// An asset's value for views that observe: what reads ``value`` is told when it changes.
  ///
  /// A SwiftUI view holds one as `@State`, and has its task follow the asset: `.task { await settings.follow() }`.
  @available(macOS 14, iOS 17, tvOS 17, watchOS 10, visionOS 1, *)
  @MainActor
  @Observable
  public final class ObservedAsset<Value: Sendable> {
    /// The value, as of the last change that was followed.
    public private(set) var value: Value

    /// The asset.
    public nonisolated let asset: RemoteAsset<Value>

    /// Begins with the value that the asset has.
    public init(_ asset: RemoteAsset<Value>) {
      self.asset = asset
      value = asset.value
    }

    /// Takes over each value that the asset gets, until its task is cancelled.
    public func follow() async {
      for await value in asset.updates { self.value = value }
    }
  }
#endif
