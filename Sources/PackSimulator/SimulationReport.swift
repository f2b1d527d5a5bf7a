/// The result of a simulation.
package struct SimulationReport: Sendable {
  /// All events, in order.
  package var events: [TimelineEvent] = []
  /// The result for each pack of the last manifest, in its order.
  package var packs: [PackOutcome] = []
  /// The faults that were found.
  package var findings: [SimulationFinding] = []
  /// Further information: faults that never occurred, and parts that were left out.
  package var notes: [String] = []
  /// The resources that the extension used.
  package var cost = ExtensionCost()
  /// The number of starts of the app.
  package var launches = 0
  /// The simulated time in milliseconds.
  package var duration: UInt64 = 0
  /// What came over the network.
  package var traffic = Traffic()

  /// The bytes that came over the network, also those of transfers that failed.
  package struct Traffic: Hashable, Sendable {
    /// Of manifests.
    package private(set) var manifests: UInt64 = 0
    /// Of shards of catalogues.
    package private(set) var shards: UInt64 = 0
    /// Of packs and deltas, by the names of the packs.
    package private(set) var packs: [String: UInt64] = [:]

    /// Of all packs and deltas.
    package var packSize: UInt64 { packs.values.reduce(0) { $0.adding($1) } }

    mutating func add(_ bytes: UInt64, of name: String?) {
      guard let name else {
        manifests = manifests.adding(bytes)
        return
      }
      guard !Shard.isFileName(name) else {
        shards = shards.adding(bytes)
        return
      }
      packs[name] = packs[name, default: 0].adding(bytes)
    }
  }

  /// The result for a pack.
  package struct PackOutcome: Hashable, Sendable {
    package let id: String
    package let version: UInt64
    package let delivery: DeliveryClass
    /// Its state with the reason, such as `ready` or `not-loaded new`.
    package let state: String
    /// The reason, for a person.
    package let reason: String
    /// The time at which it became ready, in milliseconds; nil if it was ready before or is not ready.
    package let readyAt: UInt64?
    /// Whether it was on the device at the first start of the app in the simulation.
    package let wasHereAtLaunch: Bool
  }

  /// The resources that the extension used.
  package struct ExtensionCost: Hashable, Sendable {
    /// The number of calls.
    package var calls = 0
    /// The number of file operations.
    package var operations = 0
    /// The accounted time of its calls, in milliseconds.
    package var runtime: UInt64 = 0
    /// The number of calls that were refused, because its time for the day was used up.
    package var refusedCalls = 0
    /// The largest memory that a call needs, in bytes. An estimate from the size of the manifest, not a measurement.
    package var memory: UInt64 = 0

    /// Its time for a day, in milliseconds.
    package static let runtimeLimit: UInt64 = 600_000
  }
}

/// A fault of a release.
package struct SimulationFinding: Hashable, Sendable {
  /// The kind of fault, with a stable name.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A pack that should be on the device is missing from the plan.
    case lost
    /// A pack does not leave a temporary state, or an unneeded file stays on the device.
    case stuck
    /// A pack that the app needs is missing or cannot be opened.
    case missing
    /// The manifest is refused, by the system or by our code.
    case manifest
    /// The extension uses more memory or time than it has.
    case cost
  }

  package let kind: Kind
  /// The fault: lower case, no period.
  package let message: String
  package let pack: String?
  /// The error that the system reported.
  package let error: SystemError?
  /// What to do about it.
  package let hint: String?
}

// MARK: - Records

extension SimulationReport {
  package func json(_ settings: SimulationSettings) -> JSON {
    [
      "type": "simulation", "event": .text(settings.event.rawValue), "release": .text(settings.release.path),
      "manifestVersion": .number(settings.release.manifest.version), "rules": .text(settings.rules.source),
      "link": .text(settings.link.text), "launches": .number(launches), "durationMilliseconds": .number(duration),
      "notes": .texts(notes),
    ]
  }
}

extension SimulationReport.PackOutcome {
  package var json: JSON {
    [
      "type": "pack", "id": .text(id), "version": .number(version), "delivery": .text(delivery.rawValue), "state": .text(state),
      "reason": .text(reason), "readyMilliseconds": .number(readyAt), "hereAtFirstStart": .flag(wasHereAtLaunch),
    ]
  }
}

extension SimulationReport.ExtensionCost {
  package var json: JSON {
    [
      "type": "extension", "calls": .number(calls), "operations": .number(operations), "runtimeMilliseconds": .number(runtime),
      "refusedCalls": .number(refusedCalls), "memoryEstimate": .number(memory),
    ]
  }
}

extension SimulationReport.Traffic {
  /// The bytes that came over the network, also those of transfers that failed.
  package var json: JSON {
    let packs = packs.sorted { $0.key.precedes($1.key) }.map { pack -> JSON in ["id": .text(pack.key), "size": .number(pack.value)] }
    return [
      "type": "traffic", "manifests": .number(manifests), "shards": .number(shards), "packSize": .number(packSize), "packs": .list(packs),
    ]
  }
}

extension SimulationFinding {
  package var json: JSON {
    [
      "type": "finding", "kind": .text(kind.rawValue), "message": .text(message), "pack": .text(pack), "baCode": .number(error?.code),
      "error": .text(error?.name), "hint": .text(hint),
    ]
  }
}
