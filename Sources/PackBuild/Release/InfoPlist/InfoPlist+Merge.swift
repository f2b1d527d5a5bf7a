/// The result of merging the keys of a release into an Info.plist.
package struct PlistMerge: Sendable {
  /// The bytes of the new file.
  package let bytes: [UInt8]
  /// The changes, in the order of the keys.
  package let changes: [Change]
  /// Warnings about lost comments, one sentence each.
  package let warnings: [String]

  fileprivate let original: InfoPlist

  /// A change of the value of one key.
  package struct Change: Hashable, Sendable {
    /// The path of the key, with dots between its parts.
    package var key: String
    /// The old value, for people. Nil if the key is new.
    package var old: String?
    /// The new value, for people. Nil if the key is removed.
    package var new: String?
  }

  /// How to treat values that packer did not write.
  package enum Conflicts: Hashable, Sendable {
    case refuse
    case replace
  }

  /// Whether the file changes at all.
  package var isChange: Bool { bytes != original.bytes }

  /// Writes the file, whole or not at all, with the permissions of the original plist.
  ///
  /// - Parameter path: the output path, or nil for the path the plist was read from. If that is a symbolic link, its target is replaced.
  package func write(to path: String? = nil, files: any FileSystem = SystemFiles()) throws(PackError) {
    let source = try files.status(of: original.path)
    let place = if let path { path } else { try reading(original.path, files.canonicalPath(of: original.path)) }
    if path != nil { try Self.checkReplaceable(place, files: files) }
    let output = try OutputFile(place, files: files)
    try output.write(bytes.byteSpan, at: 0, of: UInt64(bytes.count))
    try writing(output.path, files.setMode(source.mode & 0o777, of: output.file))
    output.keepOwner()
    try output.commit()
  }

  /// Throws if the path leads to a file that is not a property list, because it was named by mistake.
  private static func checkReplaceable(_ path: String, files: any FileSystem) throws(PackError) {
    do throws(PackError) {
      _ = try InfoPlist.read(path, files: files)
    } catch {
      guard error.code != .missingInput else { return }
      throw PackError(.outputExists, "\(path) exists and is not a property list", hint: "choose another name with -o")
    }
  }
}

extension InfoPlist {
  /// The key under which ``merging(_:conflicts:)`` stores a digest of the values it wrote.
  ///
  /// Apple does not read a key of this name. At the next merge, packer recognizes its own values by the digest.
  package static let mergedValuesKey = "PackerMergedValues"

  /// Sets the keys of a release in the plist, and leaves every other key and its value unchanged.
  ///
  /// Values that packer wrote before are replaced. Packer recognizes them by the digest in ``mergedValuesKey``. If the digest is missing, or one
  /// of the values was changed since, every value that differs counts as written by hand. If nothing differs, no byte changes.
  ///
  /// XML stays XML, and binary stays binary. An XML list is edited in place: only the release's keys and ``mergedValuesKey`` change. If the edited
  /// bytes do not read back as the expected values, the merge fails. A binary list is written anew.
  ///
  /// - Throws: ``PackError/Code/plistConflict`` if values that packer did not write would change. The details list both values of each.
  package func merging(_ wanted: BackgroundAssetsKeys, conflicts: PlistMerge.Conflicts) throws(PackError) -> PlistMerge {
    let isOwn = try isPackersOwn
    let differences = wanted.differences(in: content, comparing: isOwn ? .byEntries : .byHosts)
    guard !differences.isEmpty else { return PlistMerge(bytes: bytes, changes: [], warnings: [], original: self) }
    if conflicts == .refuse, !isOwn { try refuseConflicts(in: differences) }
    var edits = differences.map { PropertyListEdit($0.path, $0.wanted) }
    let digest = try BackgroundAssetsKeys(content.applying(edits)).digest
    edits.append(PropertyListEdit([Self.mergedValuesKey], .string(digest)))
    let merged = content.applying(edits)
    let (result, warnings) = try bytes(making: edits, giving: merged)
    guard result.count <= PropertyList.largestSize else {
      throw PackError(
        .malformedPlist,
        "\(path) would be \(result.count) bytes with packer's keys, more than the \(PropertyList.largestSize) allowed for a property list")
    }
    // Read back with the ordinary parser, to make sure that nothing else changed.
    guard let check = try? InfoPlist(parsing: result, path: path), check.content.says(merged), wanted.differences(in: merged).isEmpty else {
      throw PackError(.internalError, "\(path) would not hold the expected values after the merge; it was not changed")
    }
    let changes = differences.flatMap(\.single).map { change in
      let (old, new) = PropertyList.apart(change.actual, change.wanted)
      return PlistMerge.Change(key: change.key, old: old, new: new)
    }
    return PlistMerge(bytes: result, changes: changes, warnings: warnings, original: self)
  }

  /// Returns the file with the edits applied, and warnings about lost comments.
  private func bytes(making edits: [PropertyListEdit], giving merged: PropertyList) throws(PackError) -> ([UInt8], warnings: [String]) {
    guard PropertyList.Form(of: bytes) == .xml else { return (try merged.bytes(as: .binary), []) }
    // Only Apple's readers accept such a character, if it is written as a number.
    guard !merged.hasControlCharacters else {
      throw PackError(
        .malformedPlist, "\(path) has a control character in a text, which XML cannot contain",
        hint: "remove it: other readers refuse the file")
    }
    let edit = try XMLEdit(bytes, making: edits, together: BackgroundAssetsKey.all + [Self.mergedValuesKey], path: path)
    return (edit.bytes, [Self.warning(ofLost: edit.lostCommentLines, in: path)].compactMap { $0 })
  }

  /// Whether a merge would replace only values that packer wrote.
  package var isMergedFreely: Bool {
    if (try? isPackersOwn) == true { return true }
    guard case .dictionary(let members) = keys.propertyList else { return false }
    return keys.problems.isEmpty && members.isEmpty
  }

  /// Whether the values are the ones that packer wrote last.
  private var isPackersOwn: Bool {
    get throws(PackError) {
      guard keys.problems.isEmpty, case .string(let digest)? = content[key: Self.mergedValuesKey] else { return false }
      return try digest == keys.digest
    }
  }

  private static func warning(ofLost lines: [Int], in path: String) -> String? {
    guard let last = lines.last else { return nil }
    guard lines.count > 1 else { return "the comment in line \(last) of \(path) is lost, because the value around it changes" }
    let others = lines.dropLast().map(String.init).joined(separator: ", ")
    return "the comments in lines \(others) and \(last) of \(path) are lost, because the values around them change"
  }

  private func refuseConflicts(in differences: [PlistDifference]) throws(PackError) {
    let conflicts = differences.filter { $0.actual != nil }
    guard let first = conflicts.first else { return }
    let lines = conflicts.map { conflict in
      let actual = conflict.actual?.description ?? "missing"
      return "\(conflict.key) is \(actual), but packer would \(conflict.wanted.map { "write \($0)" } ?? "remove it")"
    }
    let more = conflicts.count == 1 ? "" : ", and \(conflicts.count - 1) more"
    throw PackError(
      .plistConflict, "\(path): \(first.key) was not written by packer\(more)", details: lines,
      hint: "packer plist merge \(ShellWord.path(path)) --replace, if packer's values are the right ones")
  }
}

extension BackgroundAssetsKeys {
  /// The first 16 hexadecimal digits of SHA-256 over all values, one line each: `key=value` and a line feed.
  fileprivate var digest: String {
    get throws(PackError) {
      let digest = try CryptoBackends.standard.digest(of: Array(Self.lines(propertyList, under: "").utf8).byteSpan)
      return digest.prefix(8).hex
    }
  }

  private static func lines(_ value: PropertyList, under key: String) -> String {
    switch value {
    case .dictionary(let members): members.map { lines($0.value, under: "\(key).\($0.key)") }.joined()
    case .array(let items): items.map { lines($0, under: "\(key)[]") }.joined()
    default: "\(key)=\(value)\n"
    }
  }
}

extension PlistMerge.Change {
  package func json(of file: String) -> JSON {
    ["type": "change", "file": .text(file), "key": .text(key), "old": .text(old), "new": .text(new)]
  }
}
