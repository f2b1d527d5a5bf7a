extension LibraryLoop {
  /// Takes the downloads out of a plan that the user has to be asked about, and puts those in that were agreed to meanwhile.
  func askAbout(_ plan: inout DeliveryPlan) {
    guard let consent else { return }
    // Their records say that they were handed over, so a plan may not name them again.
    let planned = Set(plan.downloads.map(\.id))
    let all = plan.downloads + held.filter { !planned.contains($0.id) && plan.underWay.contains($0.id) }
    var open = all.filter { !agreed.contains($0.identifier) }
    let size = open.reduce(UInt64(0)) { $0.adding($1.bytes.size) }
    if asking.isEmpty, size <= consent.limit {
      agreed.formUnion(open.map(\.identifier))
      open = []
    }
    let isOpen = Set(open.map(\.identifier))
    plan.downloads = all.filter { !isOpen.contains($0.identifier) }
    held = open
    // Those that came during a question are in the next one.
    guard asking.isEmpty, !open.isEmpty else { return }
    asking = Set(open.map(\.id))
    let question = DownloadQuestion(packs: open.map(\.id), size: size)
    Task { [weak self, open] in
      let isAgreed = await consent.ask(question)
      await self?.take(isAgreed, to: open)
    }
  }

  private func take(_ isAgreed: Bool, to downloads: [PlannedDownload]) async {
    let identifiers = Set(downloads.map(\.identifier))
    if isAgreed {
      agreed.formUnion(identifiers)
    } else {
      for download in downloads {
        try? await cancel(download.id, as: "the download of pack '\(printable(download.id.utf8))' was declined")
      }
      held.removeAll { identifiers.contains($0.identifier) }
    }
    // Only now: a plan before would ask again.
    asking = []
    try? await bring()
  }
}
