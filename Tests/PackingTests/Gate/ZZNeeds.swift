import Testing
@testable import PackGate
@Suite("ZZNeeds") struct ZZNeeds {
  @Test func dump() {
    for rule in ReleaseRule.all { print("NEEDS", rule.id, rule.needs.map { "\($0)" }.sorted().joined(separator: " ")) }
  }
}
