import PackFiles
public import PackFormat
public import PackManifest

extension SharedState {
  private static let manifestName = "manifest"
  private static let acceptedName = "accepted"
  private static let allowanceName = "allowance"
  private static let acceptedLine = "packer-delivery-manifest/1"
  private static let allowanceLine = "packer-delivery-allowance/1"

  /// Checks a manifest's signatures, and reads it. PackDelivery has no cryptography: PackTrust's `SignedManifest.verify(trusting:)` is what to hand in.
  public typealias ManifestCheck = (SignedManifest) throws(PackError) -> Manifest

  // MARK: The manifest

  /// Takes the manifest that the system downloaded, if it is sound, trusted, and not older than what was taken before. It is copied: the system
  /// removes its file when the callback returns.
  ///
  /// Where anything is wrong, nothing changes: what was accepted before stays (``lastManifest(verify:)``), and so do all records and files. The app's
  /// store checks all this again, and more strictly, when it adopts the manifest.
  ///
  /// What was accepted under a key that is trusted no more says nothing about what may follow: whoever stole that key could lock the app out with its
  /// version otherwise.
  ///
  /// - Parameters:
  ///   - document: the document. Of one that is larger than a manifest may be, nothing is looked at.
  ///   - verify: what checks the signatures.
  /// - Throws: what `verify` throws, ``PackFormat/PackError/Code/damagedManifest``, ``PackFormat/PackError/Code/manifestRollback``,
  ///   ``PackFormat/PackError/Code/stateBusy``, or what the disk says.
  public func accept(_ document: [UInt8], verify: ManifestCheck) throws(PackError) -> Manifest {
    let signed = try SignedManifest(document)
    let manifest = try verify(signed)
    // Most events bring what is known, and take no lock.
    guard try supersedes(manifest, signed, verify) else { return manifest }
    try directory.withLock { (root) throws(PackError) in
      // Somebody else may have accepted a later one while the lock was waited for.
      guard try supersedes(manifest, signed, verify) else { return }
      // The document first: a crash between the two leaves the next attempt to go through.
      try directory.replace(Self.manifestName, with: document.span, in: root)
      try directory.replace(Self.acceptedName, with: Self.text(Self.acceptedLine, [("version", manifest.version)]).span, in: root)
    }
    return manifest
  }

  /// The same of a file.
  public func accept(manifestAt path: String, verify: ManifestCheck) throws(PackError) -> Manifest {
    try accept(try directory.files.contents(of: path, limit: Manifest.largestSize), verify: verify)
  }

  /// The manifest that was accepted last, for a time when no other can be had.
  ///
  /// - Returns: nil where there is none.
  /// - Throws: what `verify` throws: the document is checked like one that came from outside.
  public func lastManifest(verify: ManifestCheck) throws(PackError) -> Manifest? {
    guard let document = try lastDocument() else { return nil }
    return try verify(try SignedManifest(document))
  }

  /// The document that was accepted last, for the app's store to adopt; nil where there is none.
  public func lastDocument() throws(PackError) -> [UInt8]? {
    guard let size = try directory.status(Self.manifestName, in: try directory.open())?.size, size <= Manifest.largestSize else {
      return nil
    }
    return try directory.read(Self.manifestName, limit: Int(size), in: try directory.open())
  }

  /// Whether a manifest takes the place of the one that was accepted last. What nobody who is trusted vouches for any more stands in nobody's way.
  ///
  /// - Throws: ``PackFormat/PackError/Code/manifestRollback`` where it would lead back.
  private func supersedes(_ manifest: Manifest, _ signed: SignedManifest, _ verify: ManifestCheck) throws(PackError) -> Bool {
    do throws(PackError) {
      return try isNew(manifest, signed, verify)
    } catch {
      guard error.code == .manifestRollback, isForgotten(verify) else { throw error }
      return true
    }
  }

  /// Refuses a manifest that would lead back.
  ///
  /// - Returns: whether it is another one than the one that was accepted last.
  private func isNew(_ manifest: Manifest, _ signed: SignedManifest, _ verify: ManifestCheck) throws(PackError) -> Bool {
    try checkPackVersions(of: manifest)
    guard let known = try acceptedVersion(verify) else { return true }
    guard manifest.version >= known else {
      throw PackError(
        .manifestRollback, "manifest has version \(manifest.version), and version \(known) was accepted before",
        advice: .fetchManifestAgain)
    }
    guard known == manifest.version, let isSame = try holdsSame(signed) else { return true }
    guard isSame else {
      throw PackError(
        .manifestRollback, "manifest says something else under version \(manifest.version), which was accepted before",
        advice: .raiseManifestVersion)
    }
    return false
  }

  /// Whether nobody who is trusted vouches for the document that was accepted last, so that what it said counts no more (FORMAT.md §9.4).
  private func isForgotten(_ verify: ManifestCheck) -> Bool {
    do throws(PackError) {
      _ = try lastManifest(verify: verify)
      return false
    } catch {
      return error.code == .untrustedSignature
    }
  }

  /// Refuses a manifest that would lead a pack back, whatever its own version is.
  private func checkPackVersions(of manifest: Manifest) throws(PackError) {
    var known: [String: UInt64] = [:]
    for record in try content().records { known[record.id] = record.bytes.version }
    for pack in manifest.packs {
      guard let version = known[pack.id], pack.version < version else { continue }
      throw PackError(
        .manifestRollback, "manifest has version \(pack.version) of pack '\(pack.id)', and version \(version) was accepted before",
        advice: .fetchManifestAgain)
    }
  }

  /// The version that was accepted last. Where the note of it is damaged, the document is asked.
  private func acceptedVersion(_ verify: ManifestCheck) throws(PackError) -> UInt64? {
    if let bytes = try directory.read(Self.acceptedName, limit: 256, in: try directory.open()),
      let version = Self.values(of: bytes, Self.acceptedLine, ["version"])?.first
    {
      return version
    }
    do throws(PackError) {
      return try lastManifest(verify: verify)?.version
    } catch {
      // A document that does not hold any more, or is damaged too, says nothing.
      return nil
    }
  }

  /// Whether the document that was accepted last has the same signed part; nil where there is none. Takes 16 KiB of memory.
  private func holdsSame(_ manifest: SignedManifest) throws(PackError) -> Bool? {
    let root = try directory.open()
    guard let size = try directory.status(Self.manifestName, in: root)?.size else { return nil }
    // The signatures stand in front and may differ. What is to be equal: the key, the signed part, and the last brace.
    let key = Array(",\"signed\":".utf8)
    let start = manifest.signedBytes.lowerBound - key.count
    let count = manifest.bytes.count - start
    guard start >= 0, size >= UInt64(count) else { return false }
    let file: OpenFile
    do throws(FileFailure) {
      file = try directory.files.open(Self.manifestName, .readUnlinked, in: root)
    } catch {
      throw error.reading(directory.path(Self.manifestName))
    }
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    var done = 0
    while done < count {
      let length = min(buffer.count, count - done)
      buffer.removeLast(buffer.count - length)
      var span = buffer.mutableSpan
      try directory.files.readExactly(
        file, at: size - UInt64(count - done), into: &span, name: directory.path(Self.manifestName))
      guard equal(buffer.span, manifest.bytes.span.extracting(start + done..<start + done + length)) else { return false }
      done += length
    }
    return true
  }

  // MARK: The allowance

  /// What may still be downloaded: what an earlier plan left, or, before the first one, what is given.
  func rememberedAllowance(_ given: Allowance?) throws(PackError) -> Allowance? {
    guard let given else { return nil }
    guard let bytes = try directory.read(Self.allowanceName, limit: 256, in: try directory.open()),
      let values = Self.values(of: bytes, Self.allowanceLine, ["essential", "other"])
    else { return given }
    return Allowance(essential: min(values[0], given.essential), other: min(values[1], given.other))
  }

  /// Remembers what is left; nothing once the app was started.
  func keep(_ allowance: Allowance?) throws(PackError) {
    let root = try directory.open()
    let bytes = allowance.map { Self.text(Self.allowanceLine, [("essential", $0.essential), ("other", $0.other)]) }
    guard try directory.read(Self.allowanceName, limit: 256, in: root) != bytes else { return }
    try directory.withLock { (root) throws(PackError) in
      guard let bytes else {
        try directory.remove(Self.allowanceName, in: root)
        return
      }
      try directory.replace(Self.allowanceName, with: bytes.span, in: root)
    }
  }

  // MARK: Notes

  /// A few numbers as a file that tells when it is damaged.
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
