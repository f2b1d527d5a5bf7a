import PackCrypto
import PackFiles
package import PackFormat
import PackManifest
package import PackTrust
import PackWork

/// The manifest that a store accepted last, and the memory of accepted manifests that protects against rollback.
///
/// The memory is written first. A crash between the two writes then leaves an older manifest, from which nothing is installed any more, and the
/// store accepts the newer one when it comes again. In the other order, a crash would leave a newer manifest that an older one could still replace.
final class StoreManifests: Sendable {
  private let directory: StoreDirectory
  private let trusted: [SigningPublicKey]
  private let lowestVersion: UInt64
  private let known = Monitor<Known?>(nil)

  private struct Known {
    let status: FileStatus
    let verified: Result<VerifiedManifest, PackError>
  }

  private static let name = "manifest"
  private static let memoryName = "memory"

  init(_ directory: StoreDirectory, trusting trusted: [SigningPublicKey], lowestVersion: UInt64) {
    self.directory = directory
    self.trusted = trusted
    self.lowestVersion = lowestVersion
  }

  /// Returns the manifest that was accepted last, or nil if there is none.
  ///
  /// The file is read again only if it changed since the last call.
  ///
  /// - Throws: The error of the manifest file, for example if it is damaged or not signed by a trusted key.
  func verified() throws(PackError) -> VerifiedManifest? {
    guard let status = try directory.status(Self.name) else { return nil }
    if let known = known.withLock({ $0 }), known.status == status { return try known.verified.get() }
    guard let bytes = try directory.contents(of: Self.name, limit: Manifest.largestSize) else { return nil }
    let result: Result<VerifiedManifest, PackError>
    do throws(PackError) {
      result = .success(try SignedManifest(bytes).verify(trusting: trusted, backend: directory.backend))
    } catch {
      result = .failure(error.about(directory.path(Self.name)))
    }
    if case .failure(let error) = result, Self.isOutside(error) { throw error }
    known.withLock { $0 = Known(status: status, verified: result) }
    return try result.get()
  }

  /// Returns the manifest in a document that is signed by a trusted key, even if it is old or expired.
  func authenticated(_ document: SignedManifest) throws(PackError) -> Manifest {
    try document.verify(trusting: trusted, backend: directory.backend).manifest
  }

  /// Returns the manifest that was accepted last. Returns nil if there is none, or it is damaged or not signed by a trusted key.
  func usable() throws(PackError) -> VerifiedManifest? {
    do throws(PackError) {
      return try verified()
    } catch {
      guard !Self.isOutside(error) else { throw error }
      return nil
    }
  }

  /// Returns whether an error is not about the manifest itself, because the file could not be read. The manifest may be valid the next time.
  static func isOutside(_ error: PackError) -> Bool { error.code == .cannotRead || error.code == .internalError }

  /// Returns the manifest that was accepted last, for callers that need one.
  ///
  /// - Throws: ``PackError/Code/noManifest``
  func required() throws(PackError) -> VerifiedManifest {
    do throws(PackError) {
      if let manifest = try verified() { return manifest }
    } catch {
      guard !Self.isOutside(error) else { throw error }
      throw PackError(
        .noManifest, "the accepted manifest cannot be used: \(error.message)",
        advice: .acceptManifest)
    }
    throw PackError(
      .noManifest, of: directory.root, "has accepted no manifest yet", advice: .acceptManifest)
  }

  /// Returns the manifest that was accepted last, for callers that install something new from it.
  ///
  /// - Throws: ``PackError/Code/noManifest``, ``PackError/Code/manifestRollback`` if a newer one was accepted but its file is missing,
  ///   ``PackError/Code/manifestExpired``.
  func installable() throws(PackError) -> VerifiedManifest {
    let manifest = try required()
    try rememberedOrNothing().check(manifest)
    try manifest.manifest.checkExpiry(at: now)
    return manifest
  }

  /// Checks the signatures of a document.
  func verify(_ document: SignedManifest) throws(PackError) -> VerifiedManifest {
    try document.verify(trusting: trusted, backend: directory.backend)
  }

  /// Checks a document and stores it, under the store's lock.
  func adopt(_ document: SignedManifest, _ candidate: VerifiedManifest) throws(PackError) {
    // If the memory is lost or damaged, the stored manifest contains most of it.
    let remembered = try rememberedOrNothing()
    var memory = remembered
    if memory.accepted == nil, let present = try usable() { try? memory.accept(present) }
    try memory.accept(candidate)
    try candidate.manifest.checkExpiry(at: now)
    if let accepted = memory.accepted, accepted != remembered.accepted {
      try directory.replace(Self.memoryName, with: accepted.text)
    }
    guard try directory.contents(of: Self.name, limit: Manifest.largestSize) != document.bytes else { return }
    try directory.replace(Self.name, with: document.bytes)
  }

  /// Returns the memory of accepted manifests, or nil if there is none.
  ///
  /// - Throws: ``PackError/Code/damagedStore``
  func memory() throws(PackError) -> ManifestMemory? {
    guard let bytes = try directory.contents(of: Self.memoryName, limit: ManifestMemory.Accepted.largestSize) else { return nil }
    let accepted = try ManifestMemory.Accepted(parsing: bytes)
    return ManifestMemory(accepted, lowestVersion: lowestVersion, trusting: trusted)
  }

  /// Returns the memory of accepted manifests, or an empty one if it is missing or damaged.
  private func rememberedOrNothing() throws(PackError) -> ManifestMemory {
    do throws(PackError) {
      if let memory = try memory() { return memory }
    } catch {
      guard error.code == .damagedStore else { throw error }
    }
    return ManifestMemory(nil, lowestVersion: lowestVersion, trusting: trusted)
  }

  /// Rebuilds the memory from the stored manifest, under the store's lock.
  ///
  /// - Returns: Whether there is a usable manifest.
  func rebuildMemory() throws(PackError) -> Bool {
    guard let present = try usable() else { return false }
    var memory = ManifestMemory(nil, trusting: trusted)
    try memory.accept(present)
    guard let accepted = memory.accepted else { return false }
    try directory.replace(Self.memoryName, with: accepted.text)
    return true
  }

  /// Removes the file of the memory or of the manifest, under the store's lock.
  func discard(memory: Bool) {
    if let name = directory.discard(memory ? Self.memoryName : Self.name) { directory.empty([name]) }
  }

  /// Returns whether a manifest has expired, so that nothing may be installed from it.
  func isExpired(_ manifest: VerifiedManifest) -> Bool { (try? manifest.manifest.checkExpiry(at: now)) == nil }

  /// The current time, limited to the range of times in a manifest: 1970 to the end of the year 9999.
  private var now: ManifestTime {
    let seconds = directory.clock.secondsSince1970
    return ManifestTime(secondsSince1970: min(max(seconds, 0), 253_402_300_799))!
  }
}

extension ManifestMemory.Accepted {
  fileprivate static let schema = "packer-store-memory/1"
  /// The maximum size of the text, in bytes: the packs that it lists all fit into a manifest.
  package static let largestSize = Manifest.largestSize

  package var text: [UInt8] {
    var writer = CanonicalWriter()
    writer.object { writer in
      writer.key("packs")
      writer.object { writer in
        for (id, version) in packVersions.sorted(by: { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }) {
          writer.key(id)
          writer.integer(version)
        }
      }
      writer.key("schema")
      writer.string(Self.schema)
      writer.key("signedDigest")
      writer.string(signedDigest.hex)
      writer.key("signers")
      writer.array(signers) { $0.string($1) }
      writer.key("version")
      writer.integer(version)
    }
    return writer.bytes
  }

  /// Parses the text that ``text`` returns.
  ///
  /// - Throws: ``PackError/Code/damagedStore``
  package init(parsing text: [UInt8]) throws(PackError) {
    let bytes = text.byteSpan
    var cursor = CanonicalCursor(at: 0, end: bytes.count, subject: "memory of manifests", code: .damagedStore)
    var object = try cursor.beginObject("a memory", depth: 1, in: bytes)
    var packVersions: [String: UInt64]?
    var signers: [String]?
    var schema: String?
    var signedDigest: [UInt8]?
    var version: UInt64?
    while let key = try cursor.nextKey(of: &object, in: bytes) {
      switch key {
      case "packs":
        var packs = try cursor.beginObject("packs", depth: 2, in: bytes)
        var versions: [String: UInt64] = [:]
        while let id = try cursor.nextKey(of: &packs, in: bytes) { versions[id] = try cursor.integer("a version", in: bytes) }
        packVersions = versions
      case "schema": schema = try cursor.text("a schema", in: bytes)
      case "signedDigest": signedDigest = try cursor.hex("a digest", count: 32, in: bytes)
      case "signers":
        var array = try cursor.beginArray("signers", depth: 2, in: bytes)
        var ids: [String] = []
        while try cursor.hasNext(in: &array, in: bytes) { ids.append(try cursor.text("a signer", in: bytes)) }
        signers = ids
      case "version": version = try cursor.integer("a version", in: bytes)
      default: throw cursor.fault("has the unknown key '\(key)'")
      }
    }
    guard cursor.isAtEnd, schema == Self.schema, let packVersions, let signers, let signedDigest, let version else {
      throw cursor.fault("is not complete")
    }
    self.init(version: version, signedDigest: signedDigest, signers: signers, packVersions: packVersions)
  }
}
