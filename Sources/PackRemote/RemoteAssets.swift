package import PackDownloads
package import PackFiles
public import PackFormat

/// Names an asset, and says of what type its value is.
public struct AssetKey<Value: Sendable>: Hashable, Sendable {
  /// The name of the asset.
  public let name: String

  /// Makes a key. Apps have them as constants: `extension AssetKey where Value == Settings { static let settings = AssetKey("settings") }`.
  public init(_ name: String) {
    self.name = name
  }
}

/// All assets of an app, declared in one place.
///
/// Which there are does not change afterwards. Each is a ``RemoteAsset`` of its own; here is what is done with all of them.
public final class RemoteAssets: Sendable {
  private let assets: [String: any AnyRemoteAsset]
  private let names: [String]

  /// Makes all assets, with their values. Blocks for as long as reading and materializing takes.
  ///
  /// - Parameters:
  ///   - cache: the directory for what is kept. It is made when it is needed; the one above it must exist.
  ///   - appVersion: version and build number of the app. Nothing is used that was kept under another one.
  ///   - declare: declares them.
  /// - Throws: what `declare` throws.
  public convenience init(
    cache: String, appVersion: String, _ declare: (inout Declarations) throws(PackError) -> Void
  ) throws(PackError) {
    try self.init(cache: cache, appVersion: appVersion, files: SystemFiles(), clock: SystemQueueClock(), declare)
  }

  package init(
    cache: String, appVersion: String, files: any FileSystem, clock: any QueueClock,
    _ declare: (inout Declarations) throws(PackError) -> Void
  ) throws(PackError) {
    var declarations = Declarations(cache: cache, appVersion: appVersion, files: files, clock: clock)
    try declare(&declarations)
    assets = declarations.assets
    names = declarations.names
  }

  /// Where assets are declared.
  public struct Declarations {
    let cache: String
    let appVersion: String
    let files: any FileSystem
    let clock: any QueueClock
    fileprivate var assets: [String: any AnyRemoteAsset] = [:]
    fileprivate var names: [String] = []

    fileprivate init(cache: String, appVersion: String, files: any FileSystem, clock: any QueueClock) {
      self.cache = cache
      self.appVersion = appVersion
      self.files = files
      self.clock = clock
    }

    /// Declares an asset.
    ///
    /// - Parameters:
    ///   - bundled: what the app was built with.
    ///   - materializer: what makes the value of bytes.
    ///   - provider: where newer content comes from.
    ///   - sizeLimit: the bytes that content may have: 4 MiB unless told otherwise.
    /// - Throws: ``PackFormat/PackError/Code/usage`` where the name is taken or none, ``PackFormat/PackError/Code/invalidBundledResource``.
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

  /// The asset of a key, which must have been declared, with that type.
  public subscript<Value>(_ key: AssetKey<Value>) -> RemoteAsset<Value> {
    guard let asset = assets[key.name] as? RemoteAsset<Value> else {
      preconditionFailure("no asset '\(key.name)' of type \(Value.self) was declared")
    }
    return asset
  }

  /// What all assets are like at the moment, in the order in which they were declared: for a screen for developers.
  public var statuses: [AssetState] { names.compactMap { assets[$0]?.status } }

  /// Runs all assets side by side, until its task is cancelled or none has a reason to look again.
  public func run(_ pace: RefreshPace = .declared) async {
    await withTaskGroup(of: Void.self) { tasks in
      for asset in assets.values { tasks.addTask { await asset.run(pace) } }
    }
  }

  /// Refreshes all assets side by side.
  ///
  /// - Returns: what it came to, by name.
  @discardableResult
  public func refresh() async -> [String: RefreshResult] {
    await withTaskGroup(of: (String, RefreshResult).self) { tasks in
      for (name, asset) in assets { tasks.addTask { (name, await asset.refresh()) } }
      var results: [String: RefreshResult] = [:]
      for await (name, result) in tasks { results[name] = result }
      return results
    }
  }

  /// Takes all assets back to their bundled resources.
  ///
  /// - Throws: what the disk says first; all values are the bundled ones all the same.
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

/// An asset of whatever type.
private protocol AnyRemoteAsset: Sendable {
  var status: AssetState { get }
  func refresh() async -> RefreshResult
  func run(_ pace: RefreshPace) async
  func reset() async throws(PackError)
}

extension RemoteAsset: AnyRemoteAsset {}
