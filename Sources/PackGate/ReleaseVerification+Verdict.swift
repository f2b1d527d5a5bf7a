extension ReleaseVerification {
  /// Inspects the release and applies the rules to it.
  ///
  /// - Parameters:
  ///   - key: the content key, or the root key if each pack has its own key. Without a key no pack is opened, which requires ``isQuick``.
  ///   - progress: called after every frame of a pack, with bytes of content.
  /// - Throws: if the manifest, the Info.plist or the lock file is missing, if the Info.plist or the lock file is malformed, if an option names an
  ///   unknown rule, or if the task is cancelled. Faults of the release itself are findings.
  package func run(
    key: Shared<PackKey>?, progress: ProgressHandler? = nil
  ) async throws(PackError) -> ReleaseReport {
    try Self.checkRules(only: only + required.filter { $0 != Self.everyRule }, ignored: ignored)
    guard key != nil || isQuick || isOnlyLive else {
      throw PackError(
        .noKey, "no content key was given, but packs have to be opened",
        hint: "give it with --key REF, or use --quick, which needs no key")
    }
    let inspection = ReleaseInspection(self, key: key)
    var facts = try await inspection.run(progress: progress)
    if isLive { try await look(at: livePlace, &facts, progress: progress) }
    return judge(facts)
  }

  /// Applies all requested rules to an inspected release.
  func judge(_ facts: Facts) -> ReleaseReport {
    var facts = facts
    facts.findUnsound()
    if !required.isEmpty { facts.unchecked = unchecked(facts) }
    var findings: [ReleaseFinding] = []
    var outcomes: [ReleaseReport.RuleOutcome] = []
    for rule in ReleaseRule.all where isAsked(rule) && appliesTo(facts, rule) {
      outcomes.append(ReleaseReport.RuleOutcome(rule: rule, missing: rule.missing(in: facts)))
      findings += rule.findings(in: facts)
    }
    if findings.contains(where: { $0.rule == PackRules.wrongPack }), let files = Files.source.known(facts) {
      let misplaced = Set(files.misplaced.keys)
      findings.removeAll { finding in
        PackRules.consequences.contains(finding.rule.id) && finding.pack.map(misplaced.contains) ?? false
      }
    }
    for index in findings.indices { findings[index].acceptedBecause = reason(for: findings[index]) }
    findings.sort(by: ReleaseFinding.precedes)
    return ReleaseReport(
      subject: facts.manifest.path, facts: Self.rows(facts), budget: Self.budget(facts), downloads: facts.updates.downloads,
      findings: findings, rules: outcomes)
  }

  /// Returns a verification with only the rules about an app's Info.plist. It needs no key and reads no pack.
  ///
  /// - Parameter target: the directory of the release, or its manifest.
  package static func ofPlist(
    _ plist: String, for target: String, _ configuration: PackerConfiguration?, now: ManifestTime
  ) -> ReleaseVerification {
    var verification = ReleaseVerification(target, now: now)
    verification.configuration = configuration
    verification.plist = plist
    verification.isQuick = true
    verification.only = ReleaseRule.all.filter(isAboutPlist).map(\.id)
    return verification
  }

  private static func isAboutPlist(_ rule: ReleaseRule) -> Bool {
    rule.needs.contains(.plist) && rule.needs.isDisjoint(with: [.files, .key, .payload])
  }

  /// Whether a rule is to be checked that is not only about the Info.plist.
  var looksAtFiles: Bool { !isOnlyLive && ReleaseRule.all.contains { isAsked($0) && !Self.isAboutPlist($0) } }

  private func isAsked(_ rule: ReleaseRule) -> Bool {
    only.isEmpty || only.contains { rule.id.hasPrefix($0) } || rule == ConfigurationRules.requiredRule && !required.isEmpty
  }

  /// Whether a rule is checked or counted as skipped. Without a built app, the rules about it are neither, because its Info.plist says enough of the
  /// release, nor are those about files of the extension, a recorded run, the server or a web portal without one; an option that names one of them asks for it.
  private func appliesTo(_ facts: Facts, _ rule: ReleaseRule) -> Bool {
    let absent: [ReleaseInput] =
      (facts.app == nil ? [.app] : []) + (facts.targets == nil ? [.targets] : []) + (facts.run == nil ? [.run] : [])
      + (isLive || facts.live != nil ? [] : [.live]) + (facts.portals.isEmpty ? [.portal] : [])
    guard !rule.needs.isDisjoint(with: absent) else { return true }
    return (only + required).contains(rule.id)
  }

  /// Returns the requested rules that must be checked, but are not because of missing inputs.
  private func unchecked(_ facts: Facts) -> [ReleaseReport.RuleOutcome] {
    ReleaseRule.all.filter { rule in
      isAsked(rule) && appliesTo(facts, rule) && required.contains { $0 == Self.everyRule || rule.id.hasPrefix($0) }
    }.compactMap { rule in
      let missing = rule.missing(in: facts)
      return missing.isEmpty ? nil : ReleaseReport.RuleOutcome(rule: rule, missing: missing)
    }
  }

  private func reason(for finding: ReleaseFinding) -> String? {
    guard finding.rule.isIgnorable else { return nil }
    let entry = configuration?.ignored.first { entry in
      guard entry.rule == finding.rule.id, entry.pack == nil || entry.pack == finding.pack, entry.app == nil || entry.app == finding.app,
        entry.until.map({ now <= $0 }) ?? true
      else { return false }
      return !finding.rule.protectsReleasedApps || entry.app != nil && entry.until != nil
    }
    if let entry { return entry.reason + (entry.until.map { " (until \($0.description.prefix(10)))" } ?? "") }
    guard !finding.rule.protectsReleasedApps else { return nil }
    return ignored.contains(finding.rule.id) ? "--ignore \(finding.rule.id)" : nil
  }

  /// Throws ``PackError/Code/usage`` if an option names an unknown rule, or `ignored` names a rule that cannot be ignored.
  package static func checkRules(only: [String], ignored: [String]) throws(PackError) {
    for id in only where !ReleaseRule.all.contains(where: { $0.id.hasPrefix(id) }) || id.isEmpty {
      throw PackError(.usage, "there is no rule '\(id)'", hint: "list them with 'packer explain'")
    }
    for id in ignored {
      guard let rule = ReleaseRule.all.first(where: { $0.id == id }) else {
        throw PackError(.usage, "there is no rule '\(id)'", hint: "list them with 'packer explain'")
      }
      guard rule.isIgnorable else {
        throw PackError(.usage, "\(id) cannot be ignored: \(rule.title)", hint: "see 'packer explain \(id)'")
      }
      guard !rule.protectsReleasedApps else {
        throw PackError(
          .usage, "\(id) protects players of released apps, so no option ignores it",
          hint: "accept it in packer.yml: ignore: [{rule: \(id), app: VERSION, until: YYYY-MM-DD, reason: …}]")
      }
    }
  }

  private static func rows(_ facts: Facts) -> [ReleaseReport.Fact] {
    var rows: [ReleaseReport.Fact] = []
    func add(_ name: String, _ value: String) { rows.append(ReleaseReport.Fact(name: name, value: value)) }
    if let manifest = facts.manifest.manifest {
      add(
        "manifest",
        "version \(manifest.version), \(SizeText.short(facts.manifest.size)), signed by \(facts.manifest.signers), expires \(manifest.expires)"
      )
    } else {
      add("manifest", "cannot be read")
    }
    add("packs", packs(facts))
    add("Info.plist", facts.plist?.title ?? "not given, not checked (--plist FILE)")
    if let app = facts.app { add("app", describe(app, facts)) }
    if let releases = RecordedReleases.source.known(facts) {
      let apps = releases.apps.map(\.title)
      add("released apps", apps.isEmpty ? "none recorded in \(releases.path)" : apps.joined(separator: ", "))
    } else {
      add("released apps", "no lock file, not checked (--lock FILE)")
    }
    if let live = facts.live { add("server", live.summary) }
    if !facts.updates.downloads.isEmpty { add("updates", updates(facts.updates.downloads)) }
    let starts = facts.entries.filter { $0.stream != nil }.sorted { $1.leadSize < $0.leadSize }
    let configured = facts.configuration?.packsByID ?? [:]
    let others = facts.entries.filter { $0.stream == nil && configured[$0.id]?.layout != nil }
    if !starts.isEmpty || !others.isEmpty { add("launch", launches(starts, others, facts.configuration?.hosting)) }
    return rows
  }

  /// The largest number of earlier releases that the report names.
  private static let mostDownloads = 3

  /// Returns what players who have all packs of earlier releases download.
  private static func updates(_ downloads: [ReleaseUpdate]) -> String {
    var parts = downloads.prefix(mostDownloads).map { download in
      let (size, whole) = (SizeText.short(download.size), SizeText.short(download.packSize))
      let saved = size == whole ? "" : " instead of \(whole)"
      let more = download.sizeWithApp > download.size ? " (\(SizeText.short(download.sizeWithApp)) with a new app)" : ""
      return "\(size)\(saved) from manifest \(download.manifest)\(more)"
    }
    let others = downloads.dropFirst(mostDownloads)
    if let most = others.map(\.size).max() {
      parts.append("up to \(SizeText.short(most)) from \(others.count) earlier \(others.count == 1 ? "one" : "ones")")
    }
    return "with all packs: " + parts.joined(separator: ", ")
  }

  /// The speeds for which it says when a game can be played, in Mbit/s.
  private static let speeds: [UInt64] = [1, 5, 20]

  /// Returns what is downloaded of packs with a lead before they can be played, and how long that takes without delays.
  ///
  /// - Parameter others: packs with an order that got no lead.
  private static func launches(
    _ entries: [ManifestPack], _ others: [ManifestPack], _ hosting: PackerConfiguration.Hosting?
  ) -> String {
    var parts = entries.prefix(mostDownloads).map { entry in
      let seconds = speeds.map { speed in
        let tenths = max(1, (entry.leadSize * 8 + speed * 50_000) / (speed * 100_000))
        return "\(tenths / 10).\(tenths % 10) s at \(speed) Mbit/s"
      }
      return "\(entry.id) after \(SizeText.short(entry.leadSize)) of \(SizeText.short(entry.size)), \(seconds.joined(separator: ", "))"
    }
    if entries.count > mostDownloads { parts.append("\(entries.count - mostDownloads) more after less") }
    parts += others.prefix(mostDownloads).map { entry in
      let isManaged = entry.delivery == .essential && hosting ?? .unmanaged != .unmanaged
      let reason =
        entry.install != .packed
        ? "only 'install: packed' makes a lead"
        : isManaged ? "the system brings essential packs whole" : "nothing of it, or most of it, is in the launch"
      return "\(entry.id) as a whole: \(reason)"
    }
    return parts.joined(separator: "; ")
  }

  private static func describe(_ app: BuiltApp, _ facts: Facts) -> String {
    var parts = app.version ?? "no version"
    if let platform = facts.plist?.platform { parts += " for \(platform.rawValue)" }
    for downloader in facts.downloaders { parts += ", \(downloader.place)" }
    parts += ", \(app.searched) \(app.searched == 1 ? "file" : "files") searched for secrets"
    return app.unsearched == 0 ? parts : parts + ", \(app.unsearched) too large"
  }

  /// Returns how many packs were checked, and how far. What was not checked is not said to be.
  private static func packs(_ facts: Facts) -> String {
    guard facts.manifest.manifest != nil else { return "not known, nothing checked" }
    guard facts.catalogue.isRead else { return "not all known, because shards cannot be read" }
    let count = facts.entries.count
    guard facts.contentKeys.id != nil else { return "\(count), not opened" }
    let opened = facts.packs.count { $0.content != nil }
    let whole = facts.setting.isQuick ? opened : facts.packs.count { $0.content != nil && $0.failure == nil }
    let depth = facts.setting.isQuick ? "headers and digests checked" : "all bytes checked"
    if whole == count { return "\(opened) of \(count) opened, \(depth)" }
    return "\(opened) of \(count) opened" + (whole > 0 ? ", \(whole) with \(depth)" : "")
  }

  private static func budget(_ facts: Facts) -> [ReleaseReport.BudgetRow] {
    // With Apple hosting, the Info.plist has no such numbers.
    guard let listing = Listing.source.known(facts), facts.configuration?.hosting != .apple else { return [] }
    let apps = RecordedReleases.source.known(facts)?.apps ?? []
    return listing.demand(for: facts.plist?.platform).named.map { key, needed in
      ReleaseReport.BudgetRow(
        key: key, needed: needed, allowed: facts.plist?.number(key),
        released: apps.compactMap { app in app.budget?.named.first { $0.key == key }?.bytes }.min())
    }
  }
}
