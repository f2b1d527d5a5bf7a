import TestSupport
import Testing

@Suite("The work of a downloader extension")
struct ExtensionDeliveryTests {
  private let disk = MemoryDisk()

  private func key(_ number: UInt8 = 0) throws(PackError) -> SigningKey {
    let seed = [UInt8](repeating: number, count: 32)
    return try SigningKey(seed: SecretBytes(copying: seed.byteSpan))
  }

  private func downloader() throws(PackError) -> ExtensionDelivery {
    let key = try key().publicKey
    return ExtensionDelivery(
      state: try .sample(MemoryFiles(disk)), isForDevice: { $0.platforms.isEmpty },
      verify: { (document) throws(PackError) in try document.checkSignatures(trusting: TrustedKeys([key])) })
  }

  /// Writes the manifest to the place where the system leaves it.
  private func download(_ manifest: Manifest, by signer: UInt8 = 0) throws -> String {
    let signed = try manifest.signedBytes()
    let document = try SignedManifest(signed: signed, signatures: [try SignedManifest.signature(of: signed, by: key(signer))])
    disk.write(document.bytes, to: "/system/manifest")
    return "/system/manifest"
  }

  @Test("an invalid or untrusted manifest is reported, and the plan uses the last accepted one")
  func refusedManifest() throws {
    let ours = try downloader()
    #expect(ours.downloads(for: .install, manifestAt: "/system/none", allowance: nil).refusal?.code == .missingInput)
    #expect(ours.downloads(for: .install, manifestAt: "/system/none", allowance: nil).plan == nil)
    let good = try download(manifest(offer("a", .essential), offer("b"), version: 3))
    let first = ours.downloads(for: .install, manifestAt: good, allowance: nil)
    #expect(first.downloads.map(\.id) == ["a", "b"] && first.downloads.map(\.isEssential) == [true, false])
    #expect(first.refusal == nil && first.manifestVersion == 3)
    let records = try ours.state.content()
    disk.write(Array("<html>offline</html>".utf8), to: "/system/manifest")
    let documents: [(leave: () throws -> Void, code: PackError.Code)] = [
      ({}, .damagedManifest), ({ _ = try download(manifest(version: 4), by: 1) }, .untrustedSignature),
      ({ _ = try download(manifest(version: 2)) }, .manifestRollback),
    ]
    for document in documents {
      try document.leave()
      let answer = ours.downloads(for: .periodic, manifestAt: "/system/manifest", allowance: nil)
      #expect(answer.refusal?.code == document.code)
      #expect(answer.manifestVersion == 3 && answer.downloads == [] && answer.plan?.underWay == ["a", "b"])
      #expect(try ours.state.content() == records)
    }
  }

  @Test("if nothing can be recorded, nothing is handed to the system")
  func unrecorded() throws {
    let path = try download(manifest(offer("a")))
    let ours = try downloader()
    // The framework's lock is known to stay locked sometimes; ours is released when its process ends.
    let other = MemoryFiles(disk)
    let lock = try other.open("/group/lock", .readUnlinked, in: nil)
    #expect(try other.tryLock(lock))
    let answer = ours.downloads(for: .install, manifestAt: path, allowance: nil)
    #expect(answer.refusal?.code == .stateBusy)
    #expect(answer.downloads == [] && answer.plan == nil)
    withExtendedLifetime(lock) {}
    other.end()
    #expect(try downloader().downloads(for: .periodic, manifestAt: path, allowance: nil).downloads.map(\.id) == ["a"])
  }

  @Test("packs for other devices are not downloaded")
  func otherDevices() throws {
    var other = offer("b")
    other.platforms = ["tvOS"]
    let answer = try downloader().downloads(for: .install, manifestAt: try download(manifest(offer("a"), other)), allowance: nil)
    #expect(answer.downloads.map(\.id) == ["a"])
  }

  @Test("a content request counts down the system's allowance; after the first start there is no limit")
  func allowance() throws {
    let path = try download(manifest(offer("a", size: 500, .essential), offer("b", size: 900), offer("c", size: 200)))
    let answer = try downloader().downloads(for: .install, manifestAt: path, allowance: Allowance(essential: 501, other: 900))
    #expect(answer.downloads.map(\.id) == ["a", "c"])
    #expect(answer.plan?.reason(of: "b") == .allowance(size: 900, left: 900))
    #expect(try downloader().downloads(for: .periodic, manifestAt: path, allowance: nil).downloads.map(\.id) == ["b"])
  }

  @Test("a finished file is moved without being read; a failed essential download is handed over again as non-essential")
  func finished() throws {
    let files = MemoryFiles(disk, .nothing)
    let key = try key().publicKey
    let ours = ExtensionDelivery(state: try .sample(files)) { (document) throws(PackError) in
      try document.checkSignatures(trusting: TrustedKeys([key]))
    }
    let path = try download(manifest(offer("a", .essential), offer("b", .essential)))
    let answer = ours.downloads(for: .install, manifestAt: path, allowance: nil)
    let identifiers = answer.downloads.map(\.identifier.description)
    #expect(try ours.note(.began, ofDownload: identifiers[0])?.state == .loading)
    #expect(try ours.finished(disk.downloaded(), download: identifiers[0]) == .moved)
    #expect(try ours.failed(.download(identifier: identifiers[1]), .timeout) == .handOverAsNonEssential)
    #expect(try ours.failed(.manifest, .offline) == .keepEverything)
    #expect(try ours.failed(.download(identifier: "somebody else's"), .offline) == .nothing)
    #expect(try ours.state.content().files.map(\.identifier.description) == [identifiers[0]])
  }
}
