/// One vector of the choice of an edition of Tests/Vectors (FORMAT.md §10.7).
package struct RolloutVector: Sendable {
  /// The edition that a device takes: `stable` or `candidate`.
  package let expect: String
  /// The random bytes of the installation.
  package let installation: [UInt8]
  /// The groups of the installation.
  package let groups: Set<String>
  /// What became of the candidate on the device.
  package let standing: RolloutChoice.Standing
  /// The time by the device's clock.
  package let time: ManifestTime
  /// The place of the installation in the rollout.
  package let place: UInt64
  /// Where the device finds the edition.
  package let url: String
  /// The signed part of a manifest, whose only entry has a candidate.
  package let bytes: [UInt8]

  private static let folder = VectorFolder("rollouts", ending: ".rollout-vector")
  private static let standings: [String: RolloutChoice.Standing] = ["running": .running, "failed": .failed, "other": .other]

  /// The names of all vectors, without folder and ending.
  package static let all = folder.names

  package init(named name: String) throws {
    let file = try Self.folder.vector(named: name)
    bytes = file.bytes
    var (expect, url) = ("", "")
    var installation: [UInt8] = []
    var groups: Set<String> = []
    var standing: RolloutChoice.Standing?
    var time: ManifestTime?
    var place: UInt64?
    for (number, (name, value, line)) in file.lines.enumerated() {
      switch name {
      case "expect" where number == 0: expect = value
      case "comment": break
      case "installation": installation = try TestVector.bytes(hex: value)
      case "group": groups.insert(value)
      case "standing": standing = Self.standings[value]
      case "time": time = ManifestTime(value)
      case "place": place = UInt64(value)
      case "url": url = value
      default: throw TestVector.Fault("'\(line)' is not allowed here")
      }
    }
    guard !expect.isEmpty, !url.isEmpty, installation.count == RolloutChoice.size, let standing, let time, let place else {
      throw TestVector.Fault("the header is not complete")
    }
    (self.expect, self.url, self.installation, self.groups) = (expect, url, installation, groups)
    (self.standing, self.time, self.place) = (standing, time, place)
  }
}
