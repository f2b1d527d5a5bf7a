import PackRuntime

/// How an app uses levels. Each level is a tag.
struct Levels: Sendable {
  let packs: OnDemandPacks

  /// Called at each start, after the store was reconciled. The app runs the queue: `Task { try await queue.run() }`.
  init(store: AssetStore, queue: DownloadQueue) async throws(PackError) {
    packs = try await OnDemandPacks(store: store, queue: queue)
    // If space is short, the level that everybody plays is removed last.
    try await store.setPreservation(0.9, tags: ["level-1"])
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
