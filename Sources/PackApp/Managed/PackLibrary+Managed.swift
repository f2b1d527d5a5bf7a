import Foundation

extension PackLibrary {
  #if canImport(BackgroundAssets)
    /// Opens the asset packs that the system manages, hosted by Apple or on your own server. Works without a network with those on the device.
    ///
    /// ```swift
    /// let packs = try await PackLibrary.managed(keys: .keychain("com.example.arcade"))
    /// try await packs.ensure("game-puzzle")
    /// ```
    ///
    /// The app needs the keys that `packer plist` writes, with `hosting: apple` or `managed`, and a managed downloader extension; otherwise the system
    /// ends the process. Packs are read in place, encrypted as they are: nothing is installed, and no manifest of ours is fetched. So there is no trial
    /// and no earlier version, and ``store`` and ``TagRequest`` end the process.
    ///
    /// - Parameters:
    ///   - keys: The source of the keys of packs.
    ///   - options: Only three count: the manifest in ``Options/bundled`` has names and descriptions for ``offers()``, ``Options/logger`` receives errors,
    ///     and ``StorePolicy/openFiles`` bounds the open files.
    /// - Throws: ``PackError/Code/missingInput`` if `bundled` has no manifest, or the error of a damaged one.
    @available(iOS 26, macOS 26, tvOS 26, visionOS 26, *)
    public static func managed(keys: some KeyProvider, options: Options = Options()) async throws(PackError) -> PackLibrary {
      try await PackLibrary(
        SystemAssetPacks(), keys: keys, exports: FileExports("\(NSTemporaryDirectory())/packer-exports-managed"), options)
    }
  #endif

  /// - Parameter sleep: Waits before another attempt.
  convenience init(
    _ system: some AssetPackSystem, keys: some KeyProvider, exports: FileExports, _ options: Options,
    sleep: @escaping @Sendable (_ seconds: UInt64) async -> Void = { try? await Task.sleep(for: .seconds(Int64(clamping: $0))) }
  ) async throws(PackError) {
    // It is covered by the app's own signature.
    let manifest = try options.bundled.map { (directory) throws(PackError) in
      let document = try SignedManifest(BundledRelease(directory).document)
      return try Manifest(parsingSigned: document.bytes.byteSpan.extracting(document.signedBytes))
    }
    let loop = AssetPackLoop(
      system, keys: keys, exports: exports, named: manifest?.packs ?? [], openFiles: options.store.openFiles, logger: options.logger,
      sleep: sleep)
    await loop.start()
    self.init(loop)
  }
}
