extension Facts {
  /// Returns what is expected at the server.
  ///
  /// - Parameter place: the folder that is asked in place of the one that the manifest names; nil for that one.
  /// - Throws: the error of a shard, a record or an address.
  func livePlan(at place: LiveAddress?, files: any FileSystem) throws(PackError) -> LivePlan {
    guard let content = manifest.manifest else { throw PackError(.damagedManifest, of: manifest.path, "cannot be read") }
    let catalogue = try ReleaseCatalogue(content, in: setting.directory, files: files)
    let configured = configuration?.serve
    guard
      let base = content.defaults.baseURL ?? configured?.baseURL
        ?? catalogue.packs.first.map({ String($0.url.dropLast($0.fileName.utf8.count)) })
    else {
      throw PackError(.usage, "neither the manifest nor packer.yml says where the release is", hint: "give the address with --live-at URL")
    }
    func address(_ url: String) throws(PackError) -> String {
      try LiveAddress(place.flatMap { url.hasPrefix(base) ? $0.text + url.dropFirst(base.utf8.count) : nil } ?? url).text
    }
    func local(_ name: String) -> String { ReleaseFolder.path(name, in: setting.directory) }
    var found: [LiveFile] = []
    for pack in catalogue.editions {
      found.append(
        LiveFile(
          kind: .pack, url: try address(pack.url), pack: pack.id, size: pack.size, sha256: pack.sha256, path: local(pack.fileName)))
      for file in pack.filesBeside {
        found.append(
          LiveFile(
            kind: file.sha256 == pack.stream?.sha256 ? .lead : .delta, url: try address(base + file.name), pack: pack.id, size: file.size,
            sha256: file.sha256, path: local(file.name)))
      }
    }
    for pack in catalogue.packs {
      guard let file = pack.openerFile, let opener = pack.opener else { continue }
      let isDue = opener.opens.map { $0 <= setting.now } ?? true
      found.append(
        LiveFile(
          kind: isDue ? .opener : .notYet, url: try address(base + file.name), pack: pack.id, size: file.size, sha256: file.sha256,
          path: local(file.name)))
    }
    for shard in content.catalogue {
      found.append(
        LiveFile(
          kind: .shard, url: try address(base + shard.fileName), size: shard.size, sha256: shard.sha256, path: local(shard.fileName)))
    }
    var known = Set(found.map(\.url))
    found.removeAll { known.remove($0.url) == nil }
    known = Set(found.map(\.url))
    try forEachEarlierPack(files: files) { (pack, version, path) throws(PackError) in
      let url = try address(base + ManifestPack.publishedName(pack.id, pack.sha256))
      guard known.insert(url).inserted else { return }
      found.append(
        LiveFile(kind: .earlier, url: url, pack: pack.id, size: pack.size, sha256: pack.sha256, path: path, release: version))
    }
    let usual = configured?.manifestURL ?? base + ReleaseFile.manifest
    let manifestURL = place != nil && !usual.hasPrefix(base) ? base + ReleaseFile.manifest : usual
    return LivePlan(
      manifestURL: try address(manifestURL), manifest: try files.contents(of: manifest.path, limit: Manifest.largestSize),
      version: content.version, files: found, allowLists: allowLists(catalogue.packs), now: setting.now)
  }

  /// Calls `body` with each pack of the recorded releases that devices may have, with the version of its manifest and where it may be on this machine:
  /// not those whose manifest has expired, from which no device installs anything.
  private func forEachEarlierPack(
    files: any FileSystem, _ body: (ReleaseLock.Pack, UInt64, String) throws(PackError) -> Void
  ) throws(PackError) {
    let history = lock.flatMap { lock in configuration.flatMap { ReleaseHistory(lock, $0, files: files) } }
    let folder = history?.folder ?? ReleasedPacks(of: configuration)
    func visit(_ release: ReleaseLock.Release) throws(PackError) {
      guard release.expires > setting.now else { return }
      for pack in release.packs where !pack.isRemoved && !pack.isDoubled { try body(pack, release.manifestVersion, folder.path(of: pack)) }
    }
    if let history {
      try history.forEachRelease(visit)
    } else if let released = lock?.released {
      try visit(released)
    }
  }

  private func allowLists(_ packs: [ManifestPack]) -> [(owner: String, list: AllowList)] {
    var lists: [(owner: String, list: AllowList)] = []
    if let plist, let list = plist.keys.allowList {
      lists.append((plist.path, list))
    } else {
      let serve = configuration?.serve
      let urls = [serve?.baseURL, serve?.manifestURL].compactMap(\.self) + packs.map(\.url)
      lists.append(
        (configuration?.path ?? "the manifest", AllowList(covering: urls.compactMap { try? ServedURL($0) }, wished: serve?.hosts ?? [])))
    }
    let apps = lock?.apps.filter { !$0.isRetired } ?? []
    return lists + apps.compactMap { app in app.hosts.map { ("app \(app.title)", AllowList($0)) } }
  }
}
