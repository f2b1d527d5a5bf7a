extension LibraryLoop {
  /// Takes the downloads out of a plan that the user has to be asked about, and puts those in that were agreed to meanwhile.
  func askAbout(_ plan: inout DeliveryPlan) {
    guard let consent else { return }
    let refused = plan.downloads.filter { declined.contains($0.identifier) && !waiters.packs.contains($0.id) }
    if !refused.isEmpty {
      let identifiers = Set(refused.map(\.identifier))
      plan.downloads.removeAll { identifiers.contains($0.identifier) }
      Task { [weak self] in await self?.decline(refused) }
    }
    // Their records say that they were handed over, so a plan may not name them again.
    let planned = Set(plan.downloads.map(\.id))
    let all = plan.downloads + held.filter { !planned.contains($0.id) && plan.underWay.contains($0.id) }
    var open = all.filter { !agreed.contains($0.identifier) }
    var size = open.reduce(UInt64(0)) { $0.adding($1.bytes.size) }
    // What follows when these end belongs to the same question.
    var later: [DownloadIdentifier] = []
    for postponement in plan.postponed {
      guard case .batch(let bytes) = postponement.reason else { continue }
      let identifier = DownloadIdentifier(id: postponement.id, bytes: bytes)
      guard !agreed.contains(identifier), !declined.contains(identifier) else { continue }
      later.append(identifier)
      size = size.adding(bytes.size)
    }
    if asking.isEmpty, size <= consent.limit {
      agreed.formUnion(open.map(\.identifier) + later)
      open = []
    }
    let isOpen = Set(open.map(\.identifier))
    plan.downloads = all.filter { !isOpen.contains($0.identifier) }
    held = open
    // Those that came during a question are in the next one.
    guard asking.isEmpty, !open.isEmpty else { return }
    asking = Set(open.map(\.id))
    let question = DownloadQuestion(packs: open.map(\.id) + later.map(\.id), size: size)
    Task { [weak self, open, later] in
      let isAgreed = await consent.ask(question)
      await self?.take(isAgreed, to: open, and: later)
    }
  }

  private func take(_ isAgreed: Bool, to downloads: [PlannedDownload], and later: [DownloadIdentifier]) async {
    // Who closes the library does not answer.
    guard !isStopped else { return }
    if isAgreed {
      agreed.formUnion(downloads.map(\.identifier) + later)
      declined.subtract(later)
    } else {
      declined.formUnion(later)
      await decline(downloads)
    }
    // Only now: a plan before would ask again.
    asking = []
    try? await bring()
  }

  private func decline(_ downloads: [PlannedDownload]) async {
    for download in downloads {
      try? await cancel(download.id, as: "the download of pack '\(printable(download.id.utf8))' was declined")
      // Only now: a plan before would begin it.
      declined.remove(download.identifier)
    }
  }
}
