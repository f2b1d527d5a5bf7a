extension SharedState {
  private static let manifestName = "manifest"
  private static let keysName = "keys"
  private static let acceptedName = "accepted"
  private static let allowanceName = "allowance"
  private static let acceptedLine = "packer-delivery-manifest/1"
  private static let allowanceLine = "packer-delivery-allowance/1"

  /// A function that checks the signatures of a manifest: `SignedManifest.checkSignatures(trusting:)`.
  public typealias ManifestCheck = (SignedManifest) throws(PackError) -> Void

  // MARK: The manifest

  /// Accepts the manifest that the system downloaded if it is valid, trusted, and not older than the last accepted one. The document is copied,
  /// because the system removes its file when the callback returns.
  ///
  /// If the manifest is refused, nothing changes: the last accepted manifest, all records and all files stay. The app's
  /// store repeats these checks, more strictly, when it adopts the manifest.
  ///
  /// A manifest that was accepted under a key that is no longer trusted does not restrict what may follow. Otherwise an attacker who stole that key
  /// could lock the app out with a high version.
  ///
  /// - Parameters:
  ///   - document: the document. It is refused unread if it is larger than a manifest may be.
  ///   - verify: checks the signatures.
  /// - Throws: the errors of `verify`, ``PackFormat/PackError/Code/damagedManifest``, ``PackFormat/PackError/Code/manifestRollback``,
  ///   ``PackFormat/PackError/Code/stateBusy``, or an error of the file system.
  public func accept(_ document: [UInt8], verify: ManifestCheck) throws(PackError) -> Manifest {
    try accepted({ () throws(PackError) in FileContent(document) }, verify).manifest
  }

  /// Accepts the manifest in a file, which is mapped and not read into memory, like ``accept(_:verify:)``.
  package func accept(manifestAt path: String, _ verify: ManifestCheck) throws(PackError) -> ManifestListing {
    try accepted({ () throws(PackError) in try directory.files.content(of: path, limit: Manifest.largestSize) }, verify)
  }

  /// Returns the last accepted manifest, mapped, for use if no other is available. Returns nil if none was accepted yet.
  ///
  /// - Throws: the errors of `verify`: the document is checked like a new one.
  func lastListing(_ verify: ManifestCheck) throws(PackError) -> ManifestListing? {
    guard let document = try lastContent() else { return nil }
    let signed = try SignedManifest(document)
    try verify(signed)
    return try ManifestListing(signed)
  }

  // MARK: Keys documents

  /// Follows the keys documents of a manifest, and records those that are accepted before it throws the error of one that is not.
  ///
  /// The record is written before the manifest that came with it. After a crash in between, the stored manifest may no longer be signed by enough
  /// keys, and the new one comes again. In the other order, a key that was taken back could replace the stored manifest.
  ///
  /// - Throws: the error of a keys document, ``PackFormat/PackError/Code/stateBusy``, or an error of the file system.
  public func follow(_ document: SignedManifest, trusting trust: some ManifestTrust) throws(PackError) {
    guard !document.keysBytes.isEmpty else { return }
    let progress = trust.followed(document, after: try keysRecord())
    if try progress.record != keysRecord() {
      try directory.withLock { (root) throws(PackError) in
        // Another process may have followed more documents in the meantime. A record that cannot be used is replaced.
        guard let record = trust.followed(document, after: try keysRecord()).record, try record != keysRecord() else { return }
        try directory.replace(Self.keysName, with: record.byteSpan, in: root)
      }
    }
    if let failure = progress.failure { throw failure }
  }

  /// Returns the record of keys documents that were followed, for the app's store. Nil if there is none.
  public func keysRecord() throws(PackError) -> [UInt8]? {
    let root = try directory.open()
    guard let size = try directory.status(Self.keysName, in: root)?.size, size <= Self.keysLimit else { return nil }
    return try directory.read(Self.keysName, limit: Int(size), in: root)
  }

  /// The largest record of keys documents, in bytes (4 MiB): some thousand documents.
  private static let keysLimit: UInt64 = 4 << 20

  func check(by trust: some ManifestTrust) -> @Sendable (SignedManifest) throws(PackError) -> Void {
    { [self] (document) throws(PackError) in try trust.check(document, record: try keysRecord(), at: time) }
  }

  /// Follows the keys documents of a manifest before it checks it.
  func following(_ trust: some ManifestTrust) -> @Sendable (SignedManifest) throws(PackError) -> Void {
    let check = check(by: trust)
    return { [self] (document) throws(PackError) in
      try follow(document, trusting: trust)
      try check(document)
    }
  }

  // MARK: Accepting

  private func accepted(_ document: () throws(PackError) -> FileContent, _ verify: ManifestCheck) throws(PackError) -> ManifestListing {
    do throws(PackError) {
      return try accepted(SignedManifest(document()), verify)
    } catch {
      logger.record(.error, .delivery, "manifest refused", .error(error))
      throw error
    }
  }

  private func accepted(_ signed: SignedManifest, _ verify: ManifestCheck) throws(PackError) -> ManifestListing {
    try verify(signed)
    let manifest = try ManifestListing(signed)
    // Most events bring a known manifest and need no lock.
    guard try supersedes(manifest, signed, verify) else { return manifest }
    try directory.withLock { (root) throws(PackError) in
      // Another process may have accepted a later manifest while this one waited for the lock.
      guard try supersedes(manifest, signed, verify) else { return }
      // The document first: after a crash between the two writes, the next attempt succeeds.
      try directory.replace(Self.manifestName, with: signed.content.byteSpan, in: root)
      try directory.replace(Self.acceptedName, with: Self.text(Self.acceptedLine, [("version", manifest.head.version)]).byteSpan, in: root)
    }
    logger.record(.notice, .delivery, "manifest accepted", [.public("version", manifest.head.version)])
    return manifest
  }

  /// Returns the last accepted document, for the app's store to adopt. Returns nil if there is none.
  public func lastDocument() throws(PackError) -> [UInt8]? { try lastContent()?.bytes }

  /// The file is replaced as a whole, never changed, so it can be mapped.
  private func lastContent() throws(PackError) -> FileContent? {
    guard let size = try directory.status(Self.manifestName, in: try directory.open())?.size, size <= Manifest.largestSize else {
      return nil
    }
    return try unless(.missingInput, directory.files.content(of: directory.path(Self.manifestName), limit: Manifest.largestSize))
  }

  /// Returns whether a manifest replaces the last accepted one. The last accepted one is ignored if its signature is no longer trusted.
  ///
  /// - Throws: ``PackFormat/PackError/Code/manifestRollback`` if the manifest is a rollback.
  private func supersedes(_ manifest: ManifestListing, _ signed: SignedManifest, _ verify: ManifestCheck) throws(PackError) -> Bool {
    do throws(PackError) {
      if try isNew(manifest, signed, verify) { return true }
      // The same content may be stored with signatures that no longer count, after a keys document that changed only keys.
      guard try keysRecord() != nil, try lastContent() != signed.content else { return false }
      return isForgotten(verify)
    } catch {
      guard error.code == .manifestRollback, isForgotten(verify) else { throw error }
      return true
    }
  }

  /// Throws if a manifest is a rollback: older than the last accepted one, or different from it under the same version.
  ///
  /// - Returns: whether it differs from the last accepted manifest.
  private func isNew(_ manifest: ManifestListing, _ signed: SignedManifest, _ verify: ManifestCheck) throws(PackError) -> Bool {
    guard let known = try acceptedVersion(verify) else { return true }
    let version = manifest.head.version
    guard version >= known else {
      throw PackError(
        .manifestRollback, "manifest has version \(version), but version \(known) was accepted before",
        advice: .fetchManifestAgain)
    }
    guard known == version, let isSame = try holdsSame(signed) else {
      try checkPackVersions(of: manifest)
      return true
    }
    guard isSame else {
      throw PackError(
        .manifestRollback, "manifest \(version) differs from the manifest \(version) that was accepted before",
        advice: .raiseManifestVersion)
    }
    return false
  }

  /// Returns whether no trusted key signed the last accepted document, so that it is ignored (FORMAT.md §9.4).
  private func isForgotten(_ verify: ManifestCheck) -> Bool {
    do throws(PackError) {
      _ = try lastListing(verify)
      return false
    } catch {
      return error.code == .untrustedSignature
    }
  }

  /// Throws if a manifest has an older version of any pack than the last accepted one, whatever the manifest's own version is.
  private func checkPackVersions(of manifest: ManifestListing) throws(PackError) {
    guard let content = try lastContent(), let last = try? ManifestListing(SignedManifest(content)) else { return }
    let known = Dictionary(last.lazy.map { ($0.id, $0.version) }, uniquingKeysWith: max)
    for pack in manifest {
      guard let version = known[pack.id], pack.version < version else { continue }
      throw PackError(
        .manifestRollback, "manifest has version \(pack.version) of pack '\(pack.id)', but version \(version) was accepted before",
        advice: .fetchManifestAgain)
    }
  }

  /// Returns the version of the last accepted manifest. If the file with the version is damaged, reads it from the document.
  private func acceptedVersion(_ verify: ManifestCheck) throws(PackError) -> UInt64? {
    if let bytes = try directory.read(Self.acceptedName, limit: 256, in: try directory.open()),
      let version = Self.values(of: bytes, Self.acceptedLine, ["version"])?.first
    {
      return version
    }
    do throws(PackError) {
      return try lastListing(verify)?.head.version
    } catch {
      // A document that is no longer valid or is damaged is ignored.
      return nil
    }
  }

  /// Returns whether the last accepted document has the same signed part; nil if there is none.
  private func holdsSame(_ manifest: SignedManifest) throws(PackError) -> Bool? {
    guard let last = try lastContent() else { return nil }
    // The signatures come first and may differ. The key `signed`, the signed part, and the last brace must be equal.
    let same = manifest.content.byteSpan.extracting(droppingFirst: manifest.signedBytes.lowerBound - ",\"signed\":".utf8.count)
    return last.byteSpan.count >= same.count && equal(last.byteSpan.extracting(last: same.count), same)
  }

  // MARK: The allowance

  /// Returns the allowance that the previous plan left, or `given` before the first plan.
  func rememberedAllowance(_ given: Allowance?) throws(PackError) -> Allowance? {
    guard let given else { return nil }
    guard let bytes = try directory.read(Self.allowanceName, limit: 256, in: try directory.open()),
      let values = Self.values(of: bytes, Self.allowanceLine, ["essential", "other"])
    else { return given }
    return Allowance(essential: min(values[0], given.essential), other: min(values[1], given.other))
  }

  /// Stores the remaining allowance; removes it after the first start of the app.
  func keep(_ allowance: Allowance?) throws(PackError) {
    let root = try directory.open()
    let bytes = allowance.map { Self.text(Self.allowanceLine, [("essential", $0.essential), ("other", $0.other)]) }
    guard try directory.read(Self.allowanceName, limit: 256, in: root) != bytes else { return }
    try directory.withLock { (root) throws(PackError) in
      guard let bytes else {
        try root.remove(Self.allowanceName)
        return
      }
      try directory.replace(Self.allowanceName, with: bytes.byteSpan, in: root)
    }
  }

  // MARK: Small files

  /// Returns the text of a file with a few numbers and a checksum.
  private static func text(_ line: String, _ values: [(String, UInt64)]) -> [UInt8] {
    let text = ([line] + values.map { "\($0.0) \($0.1)" }).map { "\($0)\n" }.joined()
    return Array(text.utf8) + Array("check \(PackStatus.check(of: text.utf8))\n".utf8)
  }

  private static func values(of bytes: [UInt8], _ line: String, _ keys: [String]) -> [UInt64]? {
    let lines = bytes.split(separator: UInt8(ascii: "\n"))
    guard lines.count == keys.count + 2 else { return nil }
    var values: [UInt64] = []
    for (key, line) in zip(keys, lines.dropFirst()) {
      guard line.starts(with: "\(key) ".utf8), let value = UInt64(String(decoding: line.dropFirst(key.utf8.count + 1), as: UTF8.self))
      else {
        return nil
      }
      values.append(value)
    }
    return text(line, Array(zip(keys, values))) == bytes ? values : nil
  }
}
