import PackRuntime

/// What an app does with its levels, each of which is a tag.
struct Levels: Sendable {
  let packs: OnDemandPacks

  /// At each start, after the store was reconciled. The app runs the queue: `Task { try await queue.run() }`.
  init(store: AssetStore, queue: DownloadQueue) async throws(PackError) {
    packs = try await OnDemandPacks(store: store, queue: queue)
    // What everybody plays goes last when space is short.
    try await store.setPreservation(0.9, tags: ["level-1"])
  }

  /// Plays a level. What is missing of it comes before everything else, and `wait` shows how far that is.
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

  /// Fetches a level while another one is played. It is installed then, and nothing keeps it but its preservation.
  func prepare(_ number: Int) async throws(PackError) {
    _ = try await TagRequest(["level-\(number)"], of: packs, priority: 0.3, waitsForNetwork: true).begin()
  }
}
