import PackFormat
public import PackManifest

/// What is to be done to bring the packs of a manifest to the device: a value, for which nothing was fetched, changed or removed.
///
/// Every pack that the manifest offers this device is in exactly one of ``downloads``, ``underWay``, ``handOver``, ``installing``, ``ready`` and ``postponed``.
public struct DeliveryPlan: Hashable, Sendable {
  /// What to hand to the system, the most urgent first: essential packs, then those that were asked for, then the rest, each in the order of the manifest.
  public internal(set) var downloads: [PlannedDownload] = []
  /// The packs whose download the system has.
  public internal(set) var underWay: [String] = []
  /// The files that wait to be installed.
  public internal(set) var handOver: [HandOver] = []
  /// The packs that are being installed.
  public internal(set) var installing: [String] = []
  /// The packs that need nothing.
  public internal(set) var ready: [String] = []
  /// The packs about which nothing is done now, and why.
  public internal(set) var postponed: [Postponement] = []
  /// What the manifest does not offer any more. It is told, and stays.
  public internal(set) var obsolete: [ObsoletePack] = []
  /// The identifiers of downloads of which nobody has any use.
  public internal(set) var cancellations: [String] = []
  /// Files in the shared directory of which nobody has any use, by their identifiers. They are told, and stay until ``SharedState/discard(_:)``.
  public internal(set) var orphans: [String] = []
  /// What is left of the allowance once the downloads are made; nil where there is none.
  public internal(set) var allowance: Allowance?
  /// How the records change by it.
  public internal(set) var changes: [Change] = []

  /// A change of a record.
  public struct Change: Hashable, Sendable {
    /// The name of the pack.
    public let id: String
    /// The record as it was when the plan was made; nil where there was none.
    public let before: PackStatus?
    /// The record as it is to be; nil where it goes.
    public let after: PackStatus?
  }

  /// The bytes to fetch.
  public var downloadSize: UInt64 {
    downloads.reduce(0) { $0.adding($1.bytes.size) }
  }

  init() {}

  /// Plans what to do, from nothing but values.
  ///
  /// Costs time and memory in proportion to the packs, a few hundred bytes for each.
  ///
  /// - Parameters:
  ///   - manifest: what is offered. Whoever hands it over has checked its signature, and that it leads nobody back (``SharedState/accept(_:verify:)``).
  ///   - records: what app and extension share.
  ///   - files: what lies in the shared directory.
  public init(
    for manifest: Manifest, records: [PackStatus], files: [WaitingFile] = [], facts: DeliveryFacts, policy: DeliveryPolicy = .init()
  ) {
    var planning = Planning(manifest, records, files, facts, policy)
    planning.run()
    self = planning.plan
  }

  /// Takes packs out whose records somebody else changed meanwhile: what is to be done about them, the next plan says.
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
    ready.contains(id) || installing.contains(id) || postponed.contains { $0.id == id } || obsolete.contains { $0.id == id }
  }
}
