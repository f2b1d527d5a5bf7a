extension Pack {
  /// Checks that the pack is the one that a manifest names, without reading its body (FORMAT.md §9.4).
  ///
  /// It does not check the digest of the file: ``checkDigest(against:)`` reads the whole file for that.
  ///
  /// - Throws: ``PackError/Code/wrongPack``. If there are several differences, the details list all of them.
  public func check(against entry: ManifestPack) throws(PackError) { try check(against: entry, isRewritten: false) }

  /// - Parameter isRewritten: Whether the pack was made by a delta, and so has a size and frames of its own.
  func check(against entry: ManifestPack, isRewritten: Bool) throws(PackError) {
    var differences: [String] = []
    func compare<Value: Equatable>(_ what: String, _ mine: Value, _ theirs: Value, _ text: (Value) -> String) {
      guard mine != theirs else { return }
      differences.append("\(what) \(text(mine)), but the manifest says \(text(theirs))")
    }
    func compare(_ what: String, _ mine: UInt64, _ theirs: UInt64, _ unit: String = "") {
      compare(what, mine, theirs) { "\($0)\(unit)" }
    }
    if !isRewritten { compare("pack is", layout.packSize, entry.size, " bytes") }
    if try (try? PackName(entry.id)).map({ (name) throws(PackError) in
      try PackID.bytes(for: name, backend: source.backend)
    }) != header.packID {
      differences.append("pack was made under another name than '\(entry.id)'")
    }
    compare("pack has version", header.packVersion, entry.version)
    compare("pack opens with key", "\(keyID)", entry.keyID) { $0 }
    compare("pack has content root", contentRoot, entry.contentRoot) { $0.hex }
    compare("pack holds", contentSize, entry.contentSize, " bytes of content")
    compare("pack holds", UInt64(entryCount), entry.files, " records")
    if !isRewritten { compare("pack has frames of up to", UInt64(largestFrame), entry.maxFrame, " bytes") }
    try refuse(differences)
  }

  func refuse(_ differences: [String]) throws(PackError) {
    guard let first = differences.first else { return }
    throw PackError(
      .wrongPack, first, details: differences.count == 1 ? [] : differences,
      advice: .fetchAgain
    ).about(source)
  }
}
