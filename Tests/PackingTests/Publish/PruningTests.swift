import Foundation
import TestSupport
import Testing

@testable import PackPublish

/// Five releases at a place, made on the first five days, of which each has another movie.
@Suite("Pruning", .bounded)
struct PruningTests {
  private let project: ReleaseProject
  private var place: String { project.directory("www") }
  private let names: [[String]]

  init() async throws {
    project = try ReleaseProject()
    var names: [[String]] = []
    for day in 1...5 {
      try project.add("movie/intro.mp4", [UInt8](repeating: UInt8(day), count: 5000 + day))
      try await project.build(on: Int64(day))
      let publication = Publication(
        try ReleaseFiles(project.directory("dist")), at: FolderPlace(project.directory("www")), own: try project.own())
      let plan = try publication.plan()
      _ = try publication.upload(plan)
      try publication.publish(plan)
      names.append(publication.release.files.map(\.name))
      _ = try project.record()
    }
    self.names = names
  }

  private func pruning(day: Int64 = 6, keep: UInt64 = 3, files: any FileSystem = FaultyFiles()) throws -> Pruning {
    guard let now = ManifestTime(secondsSince1970: 1_793_491_200 + (day - 1) * 86_400) else { preconditionFailure("a day") }
    var pruning = Pruning(of: FolderPlace(place, files: files), own: try project.own(), now: now)
    pruning.keep = keep
    return pruning
  }

  private func plan(_ pruning: Pruning) throws -> Pruning.Plan {
    let scratch = project.directory("scratch")
    try? FileManager.default.removeItem(atPath: scratch)
    try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
    return try pruning.plan(in: scratch)
  }

  private var contents: Set<String> { Set(project.contents(of: "www").keys) }

  /// The names that only the releases with these numbers have.
  private func only(_ numbers: ClosedRange<Int>) -> Set<String> {
    let others = names.enumerated().filter { !numbers.contains($0.offset + 1) }.flatMap(\.element)
    return Set(names[(numbers.lowerBound - 1)..<numbers.upperBound].joined()).subtracting(others)
  }

  @Test("copies no file that is larger than a manifest or a shard can be")
  func large() throws {
    let before = try plan(pruning(day: 182)).removed
    try project.directory.write([UInt8](repeating: 0, count: 3 << 20), to: "www/catalogue-0123456789abcdef.shard")
    #expect(try plan(pruning(day: 182)).removed == before)
    #expect(!project.directory.names(in: "scratch").contains("catalogue-0123456789abcdef.shard"))
    try project.directory.write([UInt8](repeating: 0, count: 1 << 20 + 1), to: "www/manifest-7-0123456789abcdef.json")
    let error = #expect(throws: PackError.self) { try plan(pruning()) }
    #expect(error?.code == .damagedManifest && error?.message.contains("manifest-7-0123456789abcdef.json") == true)
    #expect(project.directory.names(in: "scratch").isEmpty)
  }

  @Test("removes nothing of releases whose manifests are valid, and then all but the newest")
  func expiry() throws {
    let plan = try plan(pruning())
    #expect(plan.removed.isEmpty && plan.releases.count == 5 && plan.releases.allSatisfy { $0.reason != nil } && plan.unknown.count == 0)
    // 180 days after the second release.
    let later = try self.plan(pruning(day: 182))
    #expect(Set(later.removed.map(\.name)) == only(1...2) && later.releases.filter { $0.reason == nil }.map(\.version) == [2, 1])
    let one = try self.plan(pruning(day: 184, keep: 1))
    #expect(Set(one.removed.map(\.name)) == only(1...4) && one.releases.first?.reason == "published")
    try pruning(day: 184, keep: 1).run(one)
    #expect(contents == Set(names[4] + ["manifest.json"] + contents.filter { $0.hasPrefix("manifest-5-") }))
  }

  @Test("never keeps fewer releases than the number to keep", arguments: [1, 3, 4, 5, 9] as [UInt64])
  func keep(count: UInt64) throws {
    let plan = try plan(pruning(day: 184, keep: count))
    let gone = max(0, 5 - Int(count))
    #expect(Set(plan.removed.map(\.name)) == (gone == 0 ? [] : only(1...gone)))
    #expect(plan.releases.filter { $0.reason == nil }.count == gone && plan.copies.count == gone)
  }

  @Test("leaves files that no manifest names, and those that are needed for another reason")
  func others() throws {
    try project.directory.write([1], to: "www/readme.txt")
    try project.directory.write([1, 2], to: "www/movie-0123456789abcdef.pack")
    var pruning = try pruning(day: 184, keep: 1)
    let movie = try #require(only(1...1).first)
    pruning.needed = [movie]
    let plan = try plan(pruning)
    #expect(plan.unknown.count == 2 && plan.unknown.size == 3 && !plan.removed.contains { $0.name == movie })
    try pruning.run(plan)
    #expect(contents.isSuperset(of: ["readme.txt", "movie-0123456789abcdef.pack", movie]))
  }

  @Test("of an older manifest that was published again by hand leaves the newer ones")
  func newer() throws {
    let copy = try #require(contents.first { $0.hasPrefix("manifest-2-") })
    let bytes = try #require(project.directory.bytes(of: "www/\(copy)"))
    try project.directory.write(bytes, to: "www/manifest.json")
    let plan = try plan(pruning(day: 181, keep: 1))
    #expect(Set(plan.removed.map(\.name)) == only(1...1))
    #expect(plan.releases.filter { $0.version > 2 }.map(\.reason) == Array(repeating: "not older than the published one", count: 3))
  }

  @Test("ignores copies of manifests that another key signed, and removes those of keys that are not used any more")
  func foreign() async throws {
    let other = try ReleaseProject()
    try await other.build(on: -400, key: 3, signers: [9])
    let foreign = try ReleaseFiles(other.directory("dist"))
    for (name, bytes) in other.contents() where name.hasSuffix(".pack") || name.hasSuffix(".shard") {
      try project.directory.write(bytes, to: "www/\(name)")
    }
    try project.directory.write(foreign.manifestBytes, to: "www/\(foreign.copyName)")
    let plan = try plan(pruning(day: 184, keep: 1))
    #expect(Set(plan.removed.map(\.name)) == only(1...4) && !plan.releases.contains { $0.reason?.hasPrefix("not older") == true })
    #expect(plan.releases.count == 5 && plan.unknown.count == foreign.files.count + 1)
    try pruning(day: 184, keep: 1).run(plan)
    #expect(contents.isSuperset(of: foreign.files.map(\.name) + [foreign.copyName]))
  }

  @Test("knows releases of a dropped key by their records")
  func recorded() throws {
    var pruning = Pruning(of: FolderPlace(place), own: try project.own(signer: 9), now: ReleaseProject.time(184).now)
    pruning.keep = 1
    #expect(try plan(pruning).releases.map(\.version) == [5])
  }

  @Test("of a place with an expired manifest, or one of another key, is refused: the clock or the place may be wrong")
  func wrongClock() throws {
    let before = contents
    let ahead = #expect(throws: PackError.self) { try plan(pruning(day: 736)) }
    #expect(ahead?.code == .releaseConflict && ahead?.message.contains("if the clock is right") == true)
    #expect(throws: PackError.self) { try plan(pruning(day: 185)) }
    try project.remove("packer.lock.json")
    let place = Pruning(of: FolderPlace(place), own: try project.own(signer: 9), now: ReleaseProject.time(6).now)
    let other = #expect(throws: PackError.self) { try plan(place) }
    #expect(other?.code == .releaseConflict && other?.message.contains("no trusted key") == true)
    #expect(contents == before)
  }

  @Test("without a manifest, and with a damaged copy, is refused")
  func refused() throws {
    let copy = try #require(contents.first { $0.hasPrefix("manifest-3-") })
    let before = contents
    let other = try #require(contents.first { $0.hasPrefix("manifest-2-") })
    let bytes = try #require(project.directory.bytes(of: "www/\(other)"))
    for damage in [Array("{}".utf8), bytes] {
      try project.directory.write(damage, to: "www/\(copy)")
      let error = #expect(throws: PackError.self) { try plan(pruning(day: 184, keep: 1)) }
      #expect(error?.code == .damagedManifest && error?.message.contains(copy) == true)
    }
    try FileManager.default.removeItem(atPath: project.directory("www/manifest.json"))
    #expect(#expect(throws: PackError.self) { try plan(pruning(day: 184, keep: 1)) }?.code == .missingInput)
    #expect(contents == before.subtracting(["manifest.json"]))
  }

  @Test("removes nothing if a manifest came since the plan was made")
  func changed() async throws {
    let pruning = try pruning(day: 184, keep: 1)
    let plan = try plan(pruning)
    // The copy comes first, before the files that the next release may take from an earlier one.
    try project.add("movie/intro.mp4", [UInt8](repeating: 1, count: 5001))
    try await project.build(on: 6)
    let publication = Publication(try ReleaseFiles(project.directory("dist")), at: FolderPlace(place), own: try project.own())
    _ = try publication.upload(publication.plan())
    let before = contents
    #expect(#expect(throws: PackError.self) { try pruning.run(plan) }?.code == .releaseConflict)
    #expect(contents == before)
    try publication.publish(publication.plan())
    #expect(#expect(throws: PackError.self) { try pruning.run(plan) }?.code == .releaseConflict)
  }

  @Test("that is stopped at any file operation leaves what is needed, and the next run completes it")
  func stopped() throws {
    let first = project.contents(of: "www")
    let counting = FaultyFiles()
    let counted = try pruning(day: 184, keep: 2, files: counting)
    let plan = try plan(counted)
    let start = counting.calls.count
    try counted.run(plan)
    let last = contents
    var partial = 0
    for number in 0..<(counting.calls.count - start) {
      for (name, bytes) in first { try project.directory.write(bytes, to: "www/\(name)") }
      let stopping = try pruning(day: 184, keep: 2, files: FaultyFiles.stopping(at: number))
      #expect(throws: PackError.self) { try stopping.run(plan) }
      #expect(contents.isSuperset(of: last))
      if contents.count < first.count { partial += 1 }
      let again = try pruning(day: 184, keep: 2)
      try again.run(try self.plan(again))
      #expect(contents == last)
    }
    #expect(partial > 3)
  }
}

@Suite("The text of a place")
struct PlaceNameTests {
  @Test("names a folder, a remote or a program")
  func kinds() throws {
    #expect(try PlaceName.place("www") is FolderPlace)
    #expect(try PlaceName.place("/srv/a:b") is FolderPlace)
    #expect(try PlaceName.place("games:bucket/packs") is RclonePlace)
    #expect(try PlaceName.place(":local:/srv") is RclonePlace)
    #expect(try PlaceName.place("cmd:'./up load' x") is CommandPlace)
    #expect(#expect(throws: PackError.self) { try PlaceName.place("cmd:") }?.code == .usage)
  }

  @Test(
    "with a secret in it is refused, and does not appear in the message",
    arguments: [
      ":sftp,host=h,pass=hidden7:x", ":s3,provider=Other,secret_access_key=hidden7:b",
      ":s3,secret_access_key=hidden7,endpoint=\"http://h\":b",
      ":azureblob,account=a,key=hidden7:c", ":b2,account=a,key=hidden7:c", ":drive,token=hidden7:x", ":sftp,key_pem=hidden7:x",
      ":azureblob,sas_url=hidden7:c", ":gcs,service_account_credentials=hidden7:b", "games,secret_access_key=hidden7:b",
      ":sftp,key_file_pass=hidden7:x", ":webdav,bearer_token=hidden7:x", ":s3,endpoint=\"http://h:9\",secret_access_key=hidden7:b",
      ":webdav,url=http://u:hidden7@h:9/:x", ":webdav,url=\"http://u:hidden7@h\":x", ":azureblob,url=\"https://h/c?sig=hidden7\":c",
      ":sftp,PASS=hidden7:x", ":sftp,p\\ass=hidden7:x", ":seafile,2fa=1234567hidden7:x", ":jottacloud,configMagic=hidden7:x",
      ":hidrive,auth=hidden7:x", ":alias,remote=\":sftp,pass=hidden7:x\":",
    ])
  func secrets(text: String) throws {
    let error = #expect(throws: PackError.self) { try PlaceName.place(text) }
    #expect(error?.code == .usage && error?.message.contains("hidden7") == false)
    #expect(!String(reflecting: error).contains("hidden7"))
  }

  @Test(
    "with parameters that are no secrets is accepted",
    arguments: [
      ":s3,access_key_id=a,provider=Other:b", ":sftp,key_file=/k,user=u:x", ":webdav,bearer_token_command=\"a b\":x", "g:a,key=b",
      ":s3,endpoint=\"http://h:9\":b,pass=x",
      ":s3,env_auth,provider=AWS,region=eu-west-1,no_check_bucket=true,chunk_size=16M:b/packs", ":azureblob,account=a,use_msi=true:c",
      ":webdav,url=\"https://h/dav\",vendor=other,user=u:x", ":alias,remote=\":sftp,host=h,user=u:x\":",
    ])
  func others(text: String) throws { #expect(try PlaceName.place(text) is RclonePlace) }

  @Test("of a copy of a manifest has its version and digest, and other names have none")
  func copies() {
    let name = ManifestCopy.name(42, [UInt8](repeating: 0xa7, count: 32))
    #expect(name == "manifest-42-a7a7a7a7a7a7a7a7.json" && ManifestCopy.version(name) == 42)
    for other in [
      "manifest.json", "manifest-042-a7a7a7a7a7a7a7a7.json", "manifest-42-a7a7a7a7a7a7a7a.json", "manifest-42-A7A7A7A7A7A7A7A7.json",
      "manifest-a7a7a7a7a7a7a7a7.json", "manifest-x-a7a7a7a7a7a7a7a7.json", "manifest-1-a7a7a7a7a7a7a7a7.pack",
      "manifests-1-a7a7a7a7a7a7a7a7.json",
    ] { #expect(ManifestCopy.version(other) == nil, "\(other)") }
  }

  @Test("of an error in a log of rclone is that of its last message, which may have several lines")
  func reasons() {
    let log = """
      2026/11/27 14:00:01 ERROR : two: Failed to copy: AccessDenied: no
      \tstatus code: 403, request id: a, host id:\u{20}
      2026/11/27 14:00:02 ERROR : Attempt 1/1 failed with 1 errors and: PreconditionFailed: At least one did not hold
      \tstatus code: 412, request id: b, host id:\u{20}
      """
    #expect(
      RclonePlace.reason(in: Array(log.utf8)) == "Attempt 1/1 failed with 1 errors and: PreconditionFailed: At least one did not hold")
    let caused = "2026/11/27 14:00:01 ERROR : RequestError: send request failed\ncaused by: Put \"http://h/b\": EOF\n"
    #expect(RclonePlace.reason(in: Array(caused.utf8)) == "RequestError: send request failed, caused by: Put \"http://h/b\": EOF")
    #expect(RclonePlace.reason(in: []) == nil && RclonePlace.reason(in: Array("\tx\n".utf8)) == nil)
  }
}
