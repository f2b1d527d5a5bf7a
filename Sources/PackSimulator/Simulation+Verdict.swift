extension Simulation {
  /// Completes the report with the final state of the device and the findings.
  mutating func conclude() async throws(PackError) {
    report.events = world.timeline.events
    report.launches = launches
    report.duration = clock.milliseconds
    report.traffic = world.traffic
    let content = try openState().content()
    let records = Dictionary(content.records.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for pack in published.listed(asked: settings.asked, tags: settings.tags) where settings.device.accepts(pack) {
      let record = records[pack.id]
      let (state, reason) = words(on: pack, record.flatMap { $0.bytes == PackBytes(pack) ? $0 : nil }, content.files)
      report.packs.append(
        .init(
          id: pack.id, version: pack.version, delivery: pack.delivery, state: state, reason: reason, readyAt: readyAt[pack.id],
          wasHereAtLaunch: hereAtLaunch.contains(pack.id)))
    }
    judgeManifest()
    judgeCatalogue()
    judgeLanguages()
    judgeLaunch()
    judgeEnd(content)
    try await judgeContent()
    judgeCost()
    if settings.keys == nil {
      report.notes.append("no key was given, so no pack was installed: at the end, downloaded files still wait for installation")
    }
    for fault in world.unusedFaults { report.notes.append("the fault \(fault) never occurred") }
    if let death = settings.extensionDeath, report.cost.operations < death {
      report.notes.append("the extension made \(report.cost.operations) file operations, fewer than --kill-extension \(death)")
    }
  }

  /// Returns what is to be said of a pack at the end, and why.
  private func words(on pack: ManifestPack, _ record: PackStatus?, _ files: [WaitingFile]) -> (state: String, reason: String) {
    if lastPlan?.ready.contains(pack.id) == true { return ("ready", "the device has the version that the manifest offers") }
    guard let record else { return ("not-loaded new", DeliveryState.notLoaded(.new).reason) }
    if files.contains(where: { $0.identifier == record.identifier }) {
      return ("to-be-transferred", "the file is downloaded and waits for the app to install it")
    }
    return ("\(record.state)", record.state.reason)
  }

  private mutating func find(
    _ kind: SimulationFinding.Kind, _ message: String, pack: String? = nil, error: SystemError? = nil, hint: String? = nil
  ) {
    report.findings.append(SimulationFinding(kind: kind, message: message, pack: pack, error: error, hint: hint))
  }

  /// Whether a requested fault or option explains everything that happened before the first start.
  private var isDisturbed: Bool {
    settings.extensionDeath != nil || settings.isContentOff || settings.misreadsRequest || world.wasStruck(nil)
  }

  private mutating func judgeManifest() {
    if let (error, isInjected) = errors[nil], !isInjected {
      let hint =
        error == .disallowedByAllowance
        ? "raise BAEssentialDownloadAllowance above the size of the manifest: packer plist merge"
        : error == .disallowedByDomain ? "add the host of BAManifestURL to BADownloadDomainAllowList: packer plist merge" : nil
      find(.manifest, "the manifest is refused, so nothing is downloaded before the first start of the app", error: error, hint: hint)
    }
    if appManifest != published.manifest {
      let refusal = manifestRefusal ?? extensionRefusal ?? appRefusal
      let reason = refusal.map { ": \(words($0))" } ?? ""
      find(
        .manifest, "manifest \(published.manifest.version) was not accepted in \(launches) starts of the app\(reason)",
        hint: refusal.flatMap(settings.wording))
    }
  }

  /// Reports shards that the server does not have, also if no requested pack is in them.
  private mutating func judgeCatalogue() {
    guard let first = published.absent.first else { return }
    let others = published.absent.count - 1
    find(
      .missing,
      "the part \(published.manifest.catalogue[first].fileName)\(others > 0 ? " and \(Table.count(others, "other", "others"))" : "") of the catalogue cannot be read on the server, so the packs in it cannot be found",
      hint: "compare the files on the server with the manifest: packer verify \(published.path)")
  }

  /// Reports language groups of which the device gets no pack, although there are some for its platform. A device that asks for no language is right to get none.
  private mutating func judgeLanguages() {
    let device = settings.device
    guard let languages = device.languages, !languages.isEmpty else { return }
    let anyLanguage = DeviceProfile(platform: device.platform, languages: nil)
    for group in LanguageGroup.groups(of: published.packs.filter(anyLanguage.accepts)) where !group.packs.contains(where: device.accepts) {
      find(
        .missing,
        "a device with \(languages.joined(separator: ", ")) gets none of '\(group.name)', which is there in \(group.languages.joined(separator: ", "))",
        hint: "set fallbackLanguage in packer.yml, then: packer build")
    }
  }

  /// Reports essential packs that were missing at the first start of the app because of the release.
  private mutating func judgeLaunch() {
    guard settings.event.permitsEssential, !isDisturbed, errors[nil] == nil else { return }
    for pack in settings.release.manifest.packs
    where pack.delivery == .essential && settings.device.accepts(pack) && !hereAtLaunch.contains(pack.id) {
      let (error, isInjected) = errors[pack.id] ?? (nil, false)
      guard !isInjected, !world.wasStruck(pack.id) else { continue }
      // Until it comes, the app has the version before it.
      if !pack.isEssentialAsWhole, settings.earlier?.packs.contains(where: { $0.id == pack.id }) == true { continue }
      let reason = error.map { " (\($0))" } ?? ""
      find(
        .missing, "\(pack.id) is essential, but was missing at the first start of the app\(reason)", pack: pack.id,
        error: error,
        hint: "packer verify shows which number or host is wrong")
    }
  }

  private mutating func judgeEnd(_ content: SharedState.Content) {
    for id in content.damaged { find(.stuck, "the record of \(id) cannot be read", pack: id) }
    guard let plan = lastPlan, appManifest == published.manifest else { return }
    let postponed = Dictionary(plan.postponed.map { ($0.id, $0.reason) }, uniquingKeysWith: { first, _ in first })
    for (tag, refusal) in tagRefusals.sorted(by: { $0.key < $1.key }) {
      find(
        .missing, "the packs with the tag '\(tag)' were not found in \(launches) starts of the app: \(words(refusal))",
        hint: settings.wording(refusal))
    }
    let wanted = settings.asked.union(tagged)
    // Packs of a tag that was not found have no place in the plan.
    let followed =
      tagRefusals.isEmpty ? published.packs(asked: settings.asked, tags: settings.tags) : published.packs(asked: wanted, tags: [])
    for pack in followed where settings.device.accepts(pack) {
      let id = pack.id
      if plan.ready.contains(id) || plan.handOver.contains(where: { $0.id == id }) && settings.keys == nil { continue }
      if let reason = postponed[id] {
        guard reason != .notAsked || wanted.contains(id) else { continue }
        find(.missing, "\(id) is not on the device after \(launches) starts of the app: \(reason.text)", pack: id, hint: hint(for: reason))
      } else if plan.underWay.contains(id) || plan.handOver.contains(where: { $0.id == id })
        || plan.downloads.contains(where: { $0.id == id })
      {
        let state = report.packs.first { $0.id == id }?.state ?? "unknown"
        let refusal = plan.handOver.contains { $0.id == id } ? installRefusals[id] : nil
        let reason = refusal.map { ": \(words($0))" } ?? ""
        find(
          .stuck, "\(id) is still '\(state)' after \(launches) starts of the app\(reason)", pack: id,
          hint: refusal.flatMap(settings.wording))
      } else if plan.undecided.contains(id) {
        let reason = catalogueRefusal.map { ": \(words($0))" } ?? ""
        find(
          .missing,
          "\(id) is not on the device after \(launches) starts of the app: the part of the catalogue that lists it is missing\(reason)",
          pack: id, hint: "compare the files on the server with the manifest: packer verify \(published.path)")
      } else {
        find(.lost, "\(id) is missing from the plan", pack: id)
      }
    }
    for pack in plan.obsolete { find(.stuck, "\(pack.id) is no longer offered, but is still on the device", pack: pack.id) }
    for orphan in plan.orphans { find(.stuck, "the file \(orphan) is not needed, but is still on the device") }
  }

  private func hint(for reason: Postponement.Reason) -> String? {
    switch reason {
    case .failed(.wrongBytes, _), .failed(.system, _), .failed(.server, _), .failed(.wrongSize, _):
      "compare the files on the server with the manifest: packer verify \(published.path)"
    case .manifestExpired: "sign the manifest again: packer build --renew"
    default: nil
    }
  }

  /// Reports ready packs that the app cannot open.
  private mutating func judgeContent() async throws(PackError) {
    guard let keys = settings.keys, let plan = lastPlan, appManifest == published.manifest else { return }
    let store = try await AssetStore(
      root: storePath, keys: keys, trusting: settings.trusted, lowestVersion: 0, policy: StorePolicy(freeSpaceMargin: 0),
      files: CrashInjectingFiles(), clock: clock, process: StoreProcess(session: "verdict") { $0 == "verdict" },
      backend: CryptoBackends.standard, device: settings.device)
    for id in plan.ready {
      guard let pack = published.packs.first(where: { $0.id == id }) else { continue }
      do throws(PackError) {
        // Before its opener is published, a pack stays sealed.
        if published.opener(of: id) == nil, try await store.installed(id).contains(where: { $0.state == .sealed }) { continue }
        let current = try await store.current(id)
        guard current?.version == pack.version, current?.sha256 == pack.sha256 else {
          find(.missing, "\(id) has version \(current?.version ?? 0) on the device, but \(pack.version) in the manifest", pack: id)
          continue
        }
        _ = try await store.open(id)
      } catch {
        find(.missing, "\(id) is installed, but cannot be opened: \(words(error))", pack: id, hint: settings.wording(error))
      }
    }
  }

  private mutating func judgeCost() {
    let cost = report.cost
    if cost.memory > settings.memoryLimit {
      find(
        .cost,
        "a content request needs about \(ByteCount(cost.memory)) of memory; the extension has \(ByteCount(settings.memoryLimit)) (\(ByteCount(cost.memory - settings.memoryLimit)) too much)",
        hint: "offer fewer packs, or shorten their descriptions")
    }
    if cost.refusedCalls > 0, settings.faults.isEmpty {
      find(
        .cost, "the extension used up its 10 minutes for a day, and \(cost.refusedCalls) later calls were refused",
        hint: "offer fewer and larger packs: each downloaded file costs one call")
    }
  }
}
