import PackCrypto
package import PackFiles
package import PackFormat
import PackProject

/// An Info.plist as it will be with the keys of a release in it.
package struct PlistMerge: Sendable {
  /// The file.
  package let bytes: [UInt8]
  /// What changes, in the order of the keys.
  package let changes: [Change]
  /// What is lost or odd, a sentence each.
  package let warnings: [String]

  fileprivate let original: InfoPlist

  /// The value of one key.
  package struct Change: Hashable, Sendable {
    /// The key, with those above it and dots between.
    package var key: String
    /// The value that stood there, for a person.
    package var old: String?
    /// The value that will stand there, for a person; nil where the key is removed.
    package var new: String?
  }

  /// What becomes of values that packer did not write.
  package enum Conflicts: Hashable, Sendable {
    case refuse
    case replace
  }

  /// Whether the file changes at all.
  package var isChange: Bool { bytes != original.bytes }

  /// Writes the file, whole or not at all, with the permissions of the plist it comes from.
  ///
  /// - Parameter path: nil for the place it was read from. A link there stays one, and what it leads to is replaced.
  package func write(to path: String? = nil) throws(PackError) {
    try write(to: path, files: SystemFiles())
  }

  package func write(to path: String?, files: any FileSystem) throws(PackError) {
    let source: FileStatus
    let place: String
    do throws(FileFailure) {
      source = try files.status(of: original.path, in: nil, following: .followed)
      if let path { place = path } else { place = try files.canonicalPath(of: original.path) }
    } catch {
      throw error.reading(original.path)
    }
    if path != nil { try Self.checkReplaceable(place, files: files) }
    let output = try OutputFile(place, files: files)
    try output.write(bytes.span, at: 0, of: UInt64(bytes.count))
    do {
      try files.setMode(source.mode & 0o777, of: output.file)
    } catch {
      throw error.writing(output.path)
    }
    try output.commit()
  }

  /// Refuses to replace a file that is no property list: it was named by mistake.
  private static func checkReplaceable(_ path: String, files: any FileSystem) throws(PackError) {
    do throws(PackError) {
      _ = try InfoPlist.read(path, files: files)
    } catch {
      guard error.code != .missingInput else { return }
      throw PackError(.outputExists, "\(path) exists and is no property list", hint: "choose another name with -o")
    }
  }
}

extension InfoPlist {
  /// The key under which ``merging(_:conflicts:)`` leaves a digest of the values it wrote.
  ///
  /// Apple reads no key of this name. By the digest packer knows its own values at the next merge.
  package static let mergedValuesKey = "PackerMergedValues"

  /// Puts the keys of a release into the plist, and leaves every other key and its value as they are.
  ///
  /// Values that packer wrote before are replaced: ``mergedValuesKey`` holds a digest of them, by which they are known. Without it, or when
  /// one of them was changed since, every value that differs counts as written by hand. Where nothing differs, not a byte changes.
  ///
  /// The form stays. An XML list is edited in place: of its bytes only the keys of the release and ``mergedValuesKey`` change. There is no
  /// other way of writing it: a list whose edited bytes do not read as the same values is refused. A binary list is written anew.
  ///
  /// - Throws: ``PackError/Code/plistConflict`` where values that packer did not write would change, with both values of each in the
  ///   details.
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
        "\(path) would have \(result.count) bytes with packer's keys, and \(PropertyList.largestSize) are the most of a property list")
    }
    // Read back as everything is that comes in: nothing else may have changed.
    guard let check = try? InfoPlist(parsing: result, path: path), check.content.says(merged), wanted.differences(in: merged).isEmpty else {
      throw PackError(.internalError, "\(path) would not hold the same values after the merge; it was not changed")
    }
    let changes = differences.flatMap(\.single).map { change in
      let (old, new) = PropertyList.apart(change.actual, change.wanted)
      return PlistMerge.Change(key: change.key, old: old, new: new)
    }
    return PlistMerge(bytes: result, changes: changes, warnings: warnings, original: self)
  }

  /// The file with changes made in it, and what is to be said of comments.
  private func bytes(making edits: [PropertyListEdit], giving merged: PropertyList) throws(PackError) -> ([UInt8], warnings: [String]) {
    guard PropertyList.Form(of: bytes) == .xml else { return (try merged.bytes(as: .binary), []) }
    // Apple's readers take such a character where it is written as a number, and no other reader does.
    guard !merged.hasControlCharacters else {
      throw PackError(
        .malformedPlist, "\(path) has a control character in a text, which XML cannot hold",
        hint: "remove it: other readers refuse the file")
    }
    let edit = try XMLEdit(bytes, making: edits, together: BackgroundAssetsKey.all + [Self.mergedValuesKey], path: path)
    return (edit.bytes, [Self.warning(ofLost: edit.lostCommentLines, in: path)].compactMap { $0 })
  }

  /// Whether a merge would replace nothing but what packer wrote.
  package var isMergedFreely: Bool {
    if (try? isPackersOwn) == true { return true }
    guard case .dictionary(let members) = keys.propertyList else { return false }
    return keys.problems.isEmpty && members.isEmpty
  }

  /// Whether the values are those that packer wrote last.
  private var isPackersOwn: Bool {
    get throws(PackError) {
      guard keys.problems.isEmpty, case .string(let digest)? = content[key: Self.mergedValuesKey] else { return false }
      return try digest == keys.digest
    }
  }

  private static func warning(ofLost lines: [Int], in path: String) -> String? {
    guard let last = lines.last else { return nil }
    guard lines.count > 1 else { return "the comment in line \(last) of \(path) is lost: it stands inside a value that changes" }
    let others = lines.dropLast().map(String.init).joined(separator: ", ")
    return "the comments in lines \(others) and \(last) of \(path) are lost, because the values around them change"
  }

  private func refuseConflicts(in differences: [PlistDifference]) throws(PackError) {
    let conflicts = differences.filter { $0.actual != nil }
    guard let first = conflicts.first else { return }
    let lines = conflicts.map { conflict in
      let actual = conflict.actual?.description ?? "missing"
      return "\(conflict.key) is \(actual), and packer would \(conflict.wanted.map { "write \($0)" } ?? "remove it")"
    }
    let more = conflicts.count == 1 ? "" : ", and \(conflicts.count - 1) more"
    throw PackError(
      .plistConflict, "\(path): \(first.key) was not written by packer\(more)", details: lines,
      hint: "packer plist merge \(ShellWord.path(path)) --replace, if packer's values are the right ones")
  }
}

extension BackgroundAssetsKeys {
  /// 16 hexadecimal digits that change with every value: of SHA-256 over a line for each, `key=value` and a line feed.
  fileprivate var digest: String {
    get throws(PackError) {
      let digest = try CryptoBackends.standard.digest(of: Array(Self.lines(propertyList, under: "").utf8).span)
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
