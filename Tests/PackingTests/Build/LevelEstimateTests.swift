import TestSupport
import Testing

@testable import PackBuild

@Suite("What another level would bring", .bounded)
struct LevelEstimateTests {
  /// Text of random words, which shrinks as real text does.
  private func text(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
    let words = (0..<4000).map { _ in random.bytes(.random(in: 2...9, using: &random)).map { 97 + $0 % 26 } }
    var bytes: [UInt8] = []
    while bytes.count < count {
      // Small numbers are frequent.
      bytes += words[.random(in: 0..<(.random(in: 1...4000, using: &random)), using: &random)] + [32]
    }
    return Array(bytes[..<count])
  }

  private func project() throws -> ReleaseProject {
    var random = SeededGenerator(seed: 91)
    let project = try ReleaseProject()
    for number in 0..<12 { try project.add("core/text\(number).txt", text(400_000, &random)) }
    try project.add("core/noise.bin", random.bytes(1_500_000))
    return project
  }

  private func build(_ project: ReleaseProject) throws -> ReleaseBuild {
    ReleaseBuild(try PackerConfiguration.read(project.directory("packer.yml")), time: ReleaseProject.time())
  }

  @Test("the estimate is within 5 % of the size of the pack")
  func accuracy() async throws {
    let project = try project()
    let report = try await project.build()
    let size = try #require(report.items.first { $0.id == "core" }?.entry?.size)
    let estimates = try await build(project).compare(with: .smallest, sizes: ["core": size], share: 4, limit: 8 << 20)
    #expect(estimates.map(\.id) == ["core"])
    let estimate = try #require(estimates.first)
    #expect(estimate.size == size && estimate.isMade && estimate.seconds > 0)
    try project.configure(ReleaseProject.configuration + "defaults: {level: smallest}\n")
    let real = try #require(try await project.build().items.first { $0.id == "core" }?.entry?.size)
    let difference = Double(estimate.otherSize) - Double(real)
    #expect(abs(difference) < 0.05 * Double(size), "\(estimate.otherSize) instead of \(real) of \(size)")
    #expect(estimate.saving > 0)
  }

  @Test("packs at the level itself and small packs are left out")
  func leftOut() async throws {
    let project = try project()
    #expect(try await build(project).compare(with: .balanced, share: 8, limit: 4 << 20).isEmpty)
    let estimates = try await build(project).compare(with: .smallest, share: 8, limit: 1)
    #expect(estimates.map(\.id) == ["core"] && estimates[0].saving > 0 && !estimates[0].isMade)
  }
}
