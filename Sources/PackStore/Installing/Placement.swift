/// Moves content that is ready into its place, together with its record, unless another task or process installed the same meanwhile.
struct Placement: Sendable {
  let directory: StoreDirectory
  let manifests: StoreManifests
  let order: InstallOrder
  let content: PackRecord.Content
  let needs: StoreSpace.Needs
  let note: Monitor<InstallNote>?

  /// Something that gets its place in `packs`.
  struct Arrival: Sendable {
    /// Its name in `staging`. Nil if the caller's file is to be renamed.
    var staged: String?
    /// The caller's file, and the same file open.
    var file: InstallFile?
    var open: OpenFile?
    /// Its name in `packs`.
    var item: String

    fileprivate var name: String { staged ?? file?.path ?? "" }
  }

  /// - Returns: nil if a file of the caller is on another volume. Then nothing changed. What is in `staging` is removed only after an error, or if it
  ///   is not needed.
  func run(_ arrival: Arrival) async throws(PackError) -> InstalledPack? {
    do throws(PackError) {
      // From here on, the installation cannot be cancelled.
      try Task.checkpoint()
      return try await WorkerPool.settled { () throws(PackError) in try self.record(arrival) }
    } catch {
      await WorkerPool.settled { empty(arrival) }
      throw error
    }
  }

  private func empty(_ arrival: Arrival) { directory.empty([arrival.staged].compactMap(\.self)) }

  private func record(_ arrival: Arrival) throws(PackError) -> InstalledPack? {
    let id = order.entry.id
    var hasArrived = false
    var isKept = true
    let installed = try directory.change(id) { (record) throws(PackError) -> InstalledPack? in
      try order.checkFailure(record)
      if let present = try order.present(in: record, of: directory) {
        isKept = false
        hold(present, record)
        return directory.installed(present, of: record)
      }
      try check(record)
      if arrival.staged == nil, let open = arrival.open { try arrival.file?.checkIdentity(open) }
      // Before the pack is in the store: a crash in between leaves a version remembered that a manifest really listed.
      try manifests.note([order.entry])
      let isIn = try directory.bringIn(arrival.name, isOutside: arrival.staged == nil, as: arrival.item) { hasArrived = true }
      guard isIn else { return nil }
      add(to: &record)
      return record.content(content.bytes).map { directory.installed($0, of: record) }
    } undo: {
      if hasArrived { takeBack(arrival) }
    }
    if !isKept { empty(arrival) }
    return installed
  }

  private func check(_ record: PackRecord) throws(PackError) {
    let id = record.id
    guard record.contents.count < PackRecord.contentLimit else {
      throw PackError(
        .limitExceeded, "\(PackRecord.contentLimit) versions of pack '\(id)' are installed", advice: .closePack)
    }
    try StoreSpace(directory, manifests).checkQuota(for: needs, of: id)
  }

  private func add(to record: inout PackRecord) {
    var content = content
    content.isProven = record.content(content.bytes)?.isProven ?? false
    content.isCandidate = order.entry.isCandidate
    // Installed anew, after its file went missing.
    content.opener = record.content(content.bytes)?.sealedBy == content.sealedBy ? record.content(content.bytes)?.opener : nil
    content.links.removeAll { record.content($0.bytes) == nil }
    record.removeContent(content.bytes)
    record.contents.append(content)
    record.delivery = order.entry.delivery
    hold(content, record)
  }

  /// Marks the version as in use for the caller, under the store's lock.
  private func hold(_ content: PackRecord.Content, _ record: PackRecord) {
    note?.withLock { $0.mark = directory.uses.open([record.itemName(content)]) }
  }

  /// Moves what arrived back to where it came from, or removes it.
  private func takeBack(_ arrival: Arrival) {
    if let file = arrival.file, arrival.staged == nil {
      try? directory.files.rename(directory.path(directory.place(arrival.item)), to: file.path, in: nil)
    } else if let name = directory.discard(directory.place(arrival.item)) {
      directory.empty([name])
    }
  }
}
