import Foundation
import TestSupport
import Testing

@testable import PackBuild
@testable import PackPublish

@Suite("The publication of a rollout", .bounded)
struct RolloutPublicationTests {
  private let project: ReleaseProject
  private var place: FolderPlace { FolderPlace(project.directory("www")) }

  init() async throws {
    project = try ReleaseProject()
    try await project.build()
    let publication = Publication(try ReleaseFiles(project.directory("dist")), at: place, own: try project.own())
    let plan = try publication.plan()
    _ = try publication.upload(plan)
    try publication.publish(plan)
  }

  private static let now = ManifestTime(secondsSince1970: 4_000_000_000)!

  /// Publishes a change of rollouts as at a time, and returns the manifest.
  private func change(
    _ name: String, at now: ManifestTime = Self.now, _ change: (inout RolloutDraft) throws(PackError) -> Void
  ) throws -> Manifest {
    let configuration = try PackerConfiguration.read(project.directory("packer.yml"))
    let publication = RolloutPublication(at: place, own: try project.own(), of: configuration, at: now)
    let scratch = project.directory("scratch-\(name)")
    try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
    let plan = try publication.plan(in: scratch, change)
    let (files, _) = try publication.write(plan, signedBy: [ReleaseSigner(try ReleaseProject.signingKey(0))], in: scratch)
    let upload = publication.publication(of: files, plan)
    let next = try upload.plan()
    _ = try upload.upload(next)
    try upload.publish(next)
    return files.manifest
  }

  @Test("a manifest that has expired is valid again, as long as one that is built then")
  func expired() throws {
    let before = try ReleaseFiles(project.directory("dist")).manifest
    #expect(before.expires < Self.now)
    let manifest = try change("a") { _ in }
    let configuration = try PackerConfiguration.read(project.directory("packer.yml"))
    #expect(manifest.expires.secondsSince1970 == Self.now.secondsSince1970 + Int64(configuration.validitySeconds))
    #expect(manifest.version == before.version + 1 && manifest.issued == Self.now && manifest.packs == before.packs)
    // One that is valid for longer stays so.
    #expect(try change("b", at: ManifestTime(secondsSince1970: 3_999_999_000)!) { _ in }.expires == manifest.expires)
  }

  @Test("a version that devices may have seen is not used again, and a name from far above changes nothing")
  func versions() throws {
    let path = project.directory("www/manifest.json")
    let older = try #require(FileManager.default.contents(atPath: path))
    let first = try change("a") { _ in }
    let second = try change("b") { _ in }
    try older.write(to: URL(fileURLWithPath: path))
    for name in ["manifest-9000000000000000-0123456789abcdef.json", "manifest-x-0123456789abcdef.json"] {
      try older.write(to: URL(fileURLWithPath: project.directory("www/\(name)")))
    }
    #expect(second.version == first.version + 1)
    #expect(try change("c") { _ in }.version == second.version + 1)
  }

  @Test("what only says who takes a version needs no pack at the place; what changes packs does")
  func packs() throws {
    let www = project.directory("www")
    for name in try FileManager.default.contentsOfDirectory(atPath: www) where name.hasSuffix(".pack") {
      try FileManager.default.removeItem(atPath: "\(www)/\(name)")
    }
    let manifest = try change("a") { _ in }
    #expect(try ReleaseFiles(project.directory("scratch-a")).manifest == manifest)
    // As if a release had come whose packs were lost since.
    let rollout = Rollout(
      id: "winter", salt: [UInt8](repeating: 1, count: 16), share: 1, state: .running, until: ManifestTime(secondsSince1970: 4_100_000_000)!
    )
    let error = try #require(throws: PackError.self) {
      try change("b") { (draft) throws(PackError) in
        let next = draft.packs.map { pack in
          var pack = pack
          (pack.version, pack.sha256) = (pack.version + 1, [UInt8](repeating: 9, count: 32))
          return pack
        }
        try draft.start(rollout, offering: (draft.manifest, next))
      }
    }
    #expect(error.code == .releaseConflict && error.message.contains("any more"), "\(error)")
  }

  @Test("a manifest that another publisher put there meanwhile is not replaced")
  func meanwhile() throws {
    let configuration = try PackerConfiguration.read(project.directory("packer.yml"))
    let publication = RolloutPublication(at: place, own: try project.own(), of: configuration, at: Self.now)
    let scratch = project.directory("scratch-mine")
    try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
    let plan = try publication.plan(in: scratch) { _ in }
    let (files, _) = try publication.write(plan, signedBy: [ReleaseSigner(try ReleaseProject.signingKey(0))], in: scratch)
    let other = try change("other", at: ManifestTime(secondsSince1970: 4_000_000_001)!) { _ in }
    let error = try #require(throws: PackError.self) { try publication.publication(of: files, plan).plan() }
    #expect(error.code == .releaseConflict && error.message.contains("another publisher"), "\(error)")
    #expect(
      try Data(contentsOf: URL(fileURLWithPath: project.directory("www/manifest.json")))
        == Data(ReleaseFiles(project.directory("scratch-other")).manifestBytes))
    #expect(other.version == files.manifest.version)
  }

  @Test("a release that is not newer than what is published is refused")
  func older() throws {
    let configuration = try PackerConfiguration.read(project.directory("packer.yml"))
    let publication = RolloutPublication(at: place, own: try project.own(), of: configuration, at: Self.now)
    let scratch = project.directory("scratch-older")
    try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
    let error = try #require(throws: PackError.self) { try publication.plan(in: scratch, version: 1) { _ in } }
    #expect(error.code == .releaseConflict, "\(error)")
  }
}
