/// Which devices take the candidates that name it (FORMAT.md §9.11). Only the root of the manifest says it, so that a change of it is small.
package struct Rollout: Hashable, Sendable {
  package enum State: String, Hashable, Sendable, CaseIterable {
    /// Devices that are picked take the candidates.
    case running
    /// Devices that run a candidate keep it. No other one starts.
    case paused
    /// All devices go back to the stable editions at their next activation.
    case halted
  }

  /// The name, in the form of a pack's.
  package var id: String
  /// What is hashed with the random bytes of an installation, 16 bytes: so that the first devices of one rollout are not those of the next.
  package var salt: [UInt8]
  /// The share of devices that take the candidates, in ten-thousandths.
  package var share: UInt64
  /// The groups of installations that take them whatever the share is, in ascending order.
  package var groups: [String]
  package var state: State
  /// The time from which on no device starts a candidate.
  package var until: ManifestTime

  package init(id: String, salt: [UInt8], share: UInt64, groups: [String] = [], state: State, until: ManifestTime) {
    (self.id, self.salt, self.share, self.groups) = (id, salt, share, groups)
    (self.state, self.until) = (state, until)
  }

  /// The most rollouts of a manifest.
  package static let largestCount = 32
  /// The most groups of a rollout.
  package static let mostGroups = 16
  /// The share that is all devices.
  package static let wholeShare: UInt64 = 10_000
  /// The length of a salt in bytes.
  package static let saltSize = 16

  /// Returns the faults of the list of rollouts, as texts.
  static func faults(of rollouts: [Rollout]) -> [String] {
    var faults = rollouts.flatMap { rollout in rollout.faults.map { "rollout '\(rollout.id)': \($0)" } }
    if rollouts.count > largestCount { faults.append("\(rollouts.count) rollouts are more than \(largestCount)") }
    for (left, right) in zip(rollouts, rollouts.dropFirst()) where !left.id.precedes(right.id) {
      faults.append("rollout '\(right.id)' comes after '\(left.id)', but ids must ascend")
    }
    return faults
  }

  private var faults: [String] {
    var faults: [String] = []
    if (try? PackName(id)) == nil { faults.append("id is not a name like that of a pack") }
    if salt.count != Self.saltSize { faults.append("salt is \(salt.count) bytes, not \(Self.saltSize)") }
    if share > Self.wholeShare { faults.append("share is \(share), more than \(Self.wholeShare)") }
    if groups.count > Self.mostGroups { faults.append("\(groups.count) groups are more than \(Self.mostGroups)") }
    for group in groups where (try? PackName(group)) == nil { faults.append("group '\(group)' is not a name like that of a pack") }
    if !zip(groups, groups.dropFirst()).allSatisfy({ $0.precedes($1) }) { faults.append("groups do not ascend") }
    return faults
  }
}

extension Rollout {
  func write(to writer: inout CanonicalWriter) {
    writer.object { writer in
      if !groups.isEmpty { writer.array("groups", groups) { $0.string($1) } }
      writer.string("id", id)
      writer.string("salt", salt.hex)
      writer.integer("share", share)
      writer.string("state", state.rawValue)
      writer.string("until", until.description)
    }
  }

  static func list(_ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) -> [Rollout] {
    var array = try cursor.beginArray("rollouts", depth: 3, in: bytes)
    var rollouts: [Rollout] = []
    while try cursor.hasNext(in: &array, in: bytes) {
      guard rollouts.count < largestCount else { throw cursor.fault("has too many rollouts") }
      rollouts.append(try Rollout(&cursor, bytes))
    }
    guard !rollouts.isEmpty else { throw cursor.fault("has an empty list of rollouts") }
    return rollouts
  }

  private init(_ cursor: inout CanonicalCursor, _ bytes: Span<UInt8>) throws(PackError) {
    var object = try cursor.beginObject("a rollout", depth: 4, in: bytes)
    var (id, salt, share): (String?, [UInt8]?, UInt64?)
    var groups: [String]?
    var (state, until): (State?, ManifestTime?)
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "groups": groups = try cursor.texts("group", depth: 5, in: bytes)
      case "id": id = try cursor.text("an id", in: bytes)
      case "salt": salt = try cursor.hex("a salt", count: Self.saltSize, in: bytes)
      case "share": share = try cursor.integer("a share", in: bytes)
      case "state": state = try cursor.choice(State.self, "the state", in: bytes)
      case "until": until = try cursor.time("an end", in: bytes)
      default: try cursor.skip(depth: 5, in: bytes)
      }
    }
    if groups == [] { throw cursor.fault("has 'groups' of a rollout that say nothing") }
    let owner = "\(cursor.subject)'s rollout"
    self.init(
      id: try required(id, "id", of: owner), salt: try required(salt, "salt", of: owner), share: try required(share, "share", of: owner),
      groups: groups ?? [], state: try required(state, "state", of: owner), until: try required(until, "until", of: owner))
  }
}
