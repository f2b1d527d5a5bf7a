import TestSupport
import Testing

@testable import PackBuild
@testable import PackPublish

@Suite("Seen files in access logs", .bounded)
struct SeenTests {
  private static func observe(_ paths: [String], status: Int = 404, method: String = "GET", mostNames: Int = 100) throws -> Observation {
    var observation = Observation(of: ObservedReleases([], recorded: []), salt: 7, capacity: 1 << 10, mostNames: mostNames)
    for path in paths {
      let line = Array(
        #"{"url":"\#(path)","status":\#(status),"size":9,"client_ip":"a","method":"\#(method)","timestamp":"2026-11-30T01:00:00Z"}"#.utf8)
      let request = ObjectLine.request(line.byteSpan)
      observation.add(try #require(request), line.byteSpan)
    }
    return observation
  }

  /// What so many devices tell of a version that is rolled back on a share of all.
  private static func told(
    _ version: UInt64, _ count: Int, share: Double, randomised: UInt64 = 0, _ random: inout SeededGenerator
  ) -> SeenCounts {
    var counts = SeenCounts(id: "core", version: version)
    for _ in 0..<count {
      let truth = Double.random(in: 0..<1, using: &random) < share ? SeenFile.Outcome.crash : .confirmed
      let outcome = SeenFile.told(truth, randomised: randomised, using: &random)
      counts.add(SeenFile(id: "core", version: version, randomised: randomised, outcome: outcome))
    }
    return counts
  }

  @Test("are counted apart, whatever the server answers, and never as failures; what only looks like one is another file")
  func counts() throws {
    let confirmed = "https://cdn.example.com/packs/seen/core/2/0/confirmed?x=1"
    let observation = try Self.observe([
      confirmed, confirmed, "/seen/core/2/0/rolled-back-crash", "/seen/core/1/10/rolled-back-app", "/x/confirmed",
    ])
    #expect(observation.total.requests == 0 && observation.total.failed == 0 && observation.others == 1)
    #expect(observation.seen.map(\.version) == [2, 1] && observation.seen.map(\.reports) == [3, 1])
    #expect(
      observation.seen[0].count(.confirmed) == 2 && observation.seen[0].count(.crash) == 1 && observation.seen[1].count(.refused) == 1)
    #expect(abs(observation.seen[0].rolledBack - 1 / 3) < 1e-9)
    #expect(try Self.observe([confirmed], status: 200).seen.map(\.reports) == [1])
    #expect(try Self.observe([confirmed], method: "HEAD").seen.isEmpty)
    // Anybody can request any number of names.
    let many = try Self.observe((1...150).map { "/seen/core/\($0)/0/confirmed" })
    #expect(many.seen.count == 100 && many.others == 50)
  }

  @Test("what was told at random is taken out again", arguments: [0, 10, 50, 90] as [UInt64])
  func estimate(randomised: UInt64) {
    var random = SeededGenerator()
    let counts = Self.told(1, 40_000, share: 0.04, randomised: randomised, &random)
    #expect(abs(counts.rolledBack - 0.04) < 4 * counts.deviation && counts.deviation < 0.03)
  }

  /// Of two versions that are alike, the differences of the estimates are below the smallest difference 99 times in a hundred.
  @Test(
    "the smallest difference that is no chance is, within 10 %, what chance makes",
    arguments: [(2000, 0.02, 0), (2000, 0.02, 20), (500, 0.3, 50), (5000, 0.005, 0)] as [(Int, Double, UInt64)])
  func smallest(count: Int, share: Double, randomised: UInt64) {
    var random = SeededGenerator()
    let rounds = Effort.isFull ? 10_000 : 400
    var differences: [Double] = []
    var smallest = 0.0
    for _ in 0..<rounds {
      let pair = [1, 2].map { Self.told($0, count, share: share, randomised: randomised, &random) }
      differences.append(abs(pair[0].rolledBack - pair[1].rolledBack))
      smallest += SeenCounts.smallestDifference(pair[0], pair[1]) / Double(rounds)
    }
    differences.sort()
    let chance = differences[rounds * 99 / 100]
    #expect(abs(smallest / chance - 1) < (Effort.isFull ? 0.1 : 0.25), "\(smallest) for \(chance)")
  }

  @Test("are over the limit if the newest version of a pack is rolled back more often, beyond chance")
  func limits() throws {
    func findings(_ confirmed: Int, _ rolledBack: Int, limit: String, least: UInt64 = 100) throws -> [String] {
      let old = [String](repeating: "/seen/core/1/0/rolled-back-crash", count: 500)
      let new =
        [String](repeating: "/seen/core/2/0/confirmed", count: confirmed)
        + [String](repeating: "/seen/core/2/0/rolled-back-timeout", count: rolledBack)
      return ObservationLimits(rollbacks: ShareLimit(limit), leastRequests: least).findings(try Self.observe(old + new))
    }
    #expect(try findings(990, 10, limit: "1").isEmpty && findings(988, 12, limit: "1").isEmpty)
    #expect(
      try findings(950, 50, limit: "1") == ["core 2: rolled back on 5.00 % of devices, at least 3.37 % for 99 %; allowed are 1 %"])
    #expect(try findings(20, 20, limit: "1") == ["core 2: 40 seen files show too little; 100 are needed"])
    #expect(
      ObservationLimits(rollbacks: ShareLimit("1"), leastRequests: 0).findings(try Self.observe([]))
        == ["no seen file was requested, which shows nothing"])
  }
}
