import PackApp

/// How an app uses levels. Each level is a tag.
struct Levels: Sendable {
  let packs: PackLibrary

  /// Called at each start. The app contains a release (`Options.bundled`), so that there is a manifest at the first start too.
  init(packs: PackLibrary) async throws(PackError) {
    self.packs = packs
    // If space is short, the level that everybody plays is removed last.
    try await packs.store.setPreservation(0.9, tags: ["level-1"])
  }

  /// Plays a level. Its missing packs are downloaded before everything else, and `wait` shows the progress.
  func play(_ number: Int, wait: @escaping @Sendable (TagProgress) -> Void, show: (TagAccess) async -> Void) async throws(PackError) {
    let request = TagRequest(["level-\(number)"], of: packs, priority: TagRequest.urgent)
    var access = try await request.conditionallyBegin()
    if access == nil {
      let updates = request.progressUpdates()
      Task { for await progress in updates { wait(progress) } }
      access = try await request.begin()
    }
    guard let access else { return }
    await show(access)
    access.end()
  }

  /// Fetches a level while another one is played. It is installed then, but may be purged according to its preservation.
  func prepare(_ number: Int) async throws(PackError) {
    _ = try await TagRequest(["level-\(number)"], of: packs, priority: 0.3, waitsForNetwork: true).begin()
  }
}
