/// A plan for bringing the packs of a manifest to the device. A plan is a value: making it fetches, changes and removes nothing.
///
/// Every pack that the manifest offers to this device is in exactly one of ``downloads``, ``underWay``, ``handOver``, ``ready`` and
/// ``postponed``. Packs of its catalogue (FORMAT.md §9.7) are in them if the app asked for them or the device has something of them, and only once their
/// shard is on the device.
public struct DeliveryPlan: Hashable, Sendable {
  /// The downloads to hand to the system, the most urgent first: essential packs, then requested packs, then all others, each in the order of the
  /// manifest.
  public package(set) var downloads: [PlannedDownload] = []
  /// The packs that the system is downloading.
  public internal(set) var underWay: [String] = []
  /// The downloaded files that wait to be installed.
  public internal(set) var handOver: [HandOver] = []
  /// The leads that were downloaded before the app was started. What they have of their packs is taken first; ``orphans`` has their files.
  package internal(set) var leads: [ArrivedLead] = []
  /// The packs that need no action.
  public internal(set) var ready: [String] = []
  /// The packs that are not downloaded now, each with the reason.
  public internal(set) var postponed: [Postponement] = []
  /// The packs on the device that the manifest no longer offers, as far as the facts list what is there. They are not removed.
  public internal(set) var obsolete: [ObsoletePack] = []
  /// The packs of which nothing is decided, because their shard is missing or not valid, or is not read in this process. Nothing of them is changed.
  package internal(set) var undecided: [String] = []
  /// The identifiers of downloads that are no longer needed.
  public internal(set) var cancellations: [String] = []
  /// The identifiers of files in the shared directory that are no longer needed. They are kept until ``SharedState/discard(_:)``.
  public package(set) var orphans: [String] = []
  /// The allowance that remains after the downloads; nil if there is no allowance.
  public internal(set) var allowance: Allowance?
  /// The changes of the records. Empty in a plan of ``SharedState``, which has made them.
  public internal(set) var changes: [Change] = []

  /// A lead in the shared directory.
  package struct ArrivedLead: Hashable, Sendable {
    /// The file.
    package let file: DownloadIdentifier
    /// The download of the full pack.
    package let download: PlannedDownload
  }

  /// A change of a record.
  public struct Change: Hashable, Sendable {
    /// The name of the pack.
    public let id: String
    /// The record when the plan was made; nil if there was none.
    public let before: PackStatus?
    /// The new record; nil if the record is removed.
    public let after: PackStatus?
  }

  /// The number of bytes to download.
  public var downloadSize: UInt64 {
    downloads.reduce(0) { $0.adding($1.bytes.size) }
  }

  init() {}

  /// Creates a plan from values only.
  ///
  /// Takes time and memory in proportion to the number of packs: a few hundred bytes for each.
  ///
  /// - Parameters:
  ///   - manifest: the offered packs. The caller must have checked its signature and that it is not a rollback (``SharedState/accept(_:verify:)``).
  ///   - records: the records that app and extension share.
  ///   - files: the files in the shared directory.
  public init(
    for manifest: Manifest, records: [PackStatus], files: [WaitingFile] = [], facts: DeliveryFacts, policy: DeliveryPolicy = .init()
  ) {
    self.init(for: manifest, CatalogueLookup(), records: records, files: files, facts: facts, policy: policy)
  }

  /// - Parameter lookup: what the shards on the device say of packs that are not in the manifest itself.
  package init(
    for manifest: Manifest, _ lookup: CatalogueLookup, records: [PackStatus], files: [WaitingFile] = [], facts: DeliveryFacts,
    policy: DeliveryPolicy = .init()
  ) {
    let before = Dictionary(records.map { ($0.id, $0) }) { $1 }
    var now = before
    var changed: [String] = []
    let held = Dictionary(grouping: facts.device ?? [], by: \.id)
    let source = PlanRecords<Never>(ids: Set(before.keys), batch: 32) {
      now[$0]
    } versions: {
      held[$0] ?? []
    } hasTaken: { _ in
      false
    } write: {
      for change in $0 {
        if now[change.id] == before[change.id] { changed.append(change.id) }
        now[change.id] = change.after
      }
      return []
    }
    var planning = Planning(ManifestListing(manifest), lookup, source, files, facts, policy)
    planning.run()
    self = planning.plan
    changes = changed.filter { now[$0] != before[$0] }.map { Change(id: $0, before: before[$0], after: now[$0]) }
  }

  /// Returns why a pack is not downloaded now: for one that waits for its base, why that is not.
  package func cause(of postponement: Postponement) -> Postponement.Reason {
    guard case .base(let base) = postponement.reason, let other = postponed.first(where: { $0.id == base }) else {
      return postponement.reason
    }
    return other.reason
  }

  /// Removes packs whose records another process has changed meanwhile. The next plan decides about them.
  mutating func withdraw(_ ids: Set<String>) {
    guard !ids.isEmpty else { return }
    let taken = downloads.filter { ids.contains($0.id) }
    downloads.removeAll { ids.contains($0.id) }
    if allowance != nil {
      for download in taken {
        if download.isEssential { allowance?.essential += download.bytes.size } else { allowance?.other += download.bytes.size }
      }
    }
    handOver.removeAll { ids.contains($0.id) }
    for id in ids where !underWay.contains(id) && !isNamed(id) { underWay.append(id) }
    changes.removeAll { ids.contains($0.id) }
  }

  private func isNamed(_ id: String) -> Bool {
    ready.contains(id) || undecided.contains(id) || postponed.contains { $0.id == id }
      || obsolete.contains { $0.id == id }
  }
}
