/// The name of an asset, with the type of its value.
public struct AssetKey<Value: Sendable>: Hashable, Sendable {
  /// The name of the asset.
  public let name: String

  /// Creates a key. Apps define keys as constants: `extension AssetKey where Value == Settings { static let settings = AssetKey("settings") }`.
  public init(_ name: String) {
    self.name = name
  }
}

/// All assets of an app, declared in one place.
///
/// The set of assets does not change later. Each asset is a separate ``RemoteAsset``. The methods here apply to all of them.
public final class RemoteAssets: Sendable {
  private let assets: [String: any AnyRemoteAsset]
  private let names: [String]

  /// Creates all assets with their values. Blocks while it reads and materializes them.
  ///
  /// - Parameters:
  ///   - cache: The directory for saved content. It is created when it is needed. Its parent must exist.
  ///   - appVersion: The version and build number of the app. Content saved by another app version is not used.
  ///   - declare: Declares the assets.
  /// - Throws: The error of `declare`.
  public convenience init(
    cache: String, appVersion: String, _ declare: (inout Declarations) throws(PackError) -> Void
  ) throws(PackError) {
    try self.init(cache: cache, appVersion: appVersion, files: SystemFiles(), clock: SystemClock(), declare)
  }

  package init(
    cache: String, appVersion: String, files: any FileSystem, clock: any DeviceClock,
    _ declare: (inout Declarations) throws(PackError) -> Void
  ) throws(PackError) {
    var declarations = Declarations(cache: cache, appVersion: appVersion, files: files, clock: clock)
    try declare(&declarations)
    assets = declarations.assets
    names = declarations.names
  }

  /// The declarations of an app's assets.
  public struct Declarations {
    let cache: String
    let appVersion: String
    let files: any FileSystem
    let clock: any DeviceClock
    fileprivate var assets: [String: any AnyRemoteAsset] = [:]
    fileprivate var names: [String] = []

    fileprivate init(cache: String, appVersion: String, files: any FileSystem, clock: any DeviceClock) {
      self.cache = cache
      self.appVersion = appVersion
      self.files = files
      self.clock = clock
    }

    /// Declares an asset.
    ///
    /// - Parameters:
    ///   - key: The name of the asset and the type of its value.
    ///   - bundled: The content that is built into the app.
    ///   - materializer: Converts bytes into the value.
    ///   - provider: The source of newer content.
    ///   - sizeLimit: The maximum size of the content in bytes. The default is 4 MiB.
    /// - Throws: ``PackFormat/PackError/Code/usage`` if the name is used already or is not valid,
    ///   ``PackFormat/PackError/Code/invalidBundledResource``.
    public mutating func declare<Value>(
      _ key: AssetKey<Value>, bundled: BundledResource, as materializer: Materializer<Value>, from provider: DataProvider,
      sizeLimit: Int = 4 << 20
    ) throws(PackError) {
      guard assets[key.name] == nil else { throw PackError(.usage, "two assets are declared as '\(key.name)'") }
      assets[key.name] = try RemoteAsset(
        key.name, bundled: bundled, as: materializer, from: provider, cache: cache, appVersion: appVersion, sizeLimit: sizeLimit,
        files: files,
        clock: clock)
      names.append(key.name)
    }
  }

  /// Returns the asset of a key. It must have been declared with the same type.
  public subscript<Value>(_ key: AssetKey<Value>) -> RemoteAsset<Value> {
    guard let asset = assets[key.name] as? RemoteAsset<Value> else {
      preconditionFailure("no asset '\(key.name)' of type \(Value.self) was declared")
    }
    return asset
  }

  /// The current states of all assets, in the order of declaration, for debug screens.
  public var statuses: [AssetState] { names.compactMap { assets[$0]?.status } }

  /// Runs all assets concurrently. Returns when the task is cancelled, or when no asset has further refreshes.
  public func run(_ pace: RefreshPace = .declared) async {
    await withTaskGroup(of: Void.self) { tasks in
      for asset in assets.values { tasks.addTask { await asset.run(pace) } }
    }
  }

  /// Refreshes all assets concurrently.
  ///
  /// - Returns: The results by asset name.
  @discardableResult
  public func refresh() async -> [String: RefreshResult] {
    await withTaskGroup(of: (String, RefreshResult).self) { tasks in
      for (name, asset) in assets { tasks.addTask { (name, await asset.refresh()) } }
      var results: [String: RefreshResult] = [:]
      for await (name, result) in tasks { results[name] = result }
      return results
    }
  }

  /// Returns all assets to their bundled resources.
  ///
  /// - Throws: The first error of the file system. All values are the bundled ones in any case.
  public func reset() async throws(PackError) {
    var failure: PackError?
    for name in names {
      do throws(PackError) {
        try await assets[name]?.reset()
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }
}

/// An asset of any value type.
private protocol AnyRemoteAsset: Sendable {
  var status: AssetState { get }
  func refresh() async -> RefreshResult
  func run(_ pace: RefreshPace) async
  func reset() async throws(PackError)
}

extension RemoteAsset: AnyRemoteAsset {}
