/// The name of one version of a pack in the directory `packs`: `<pack>@<version>-<16 digits>.pack`, without `.pack` if it was unpacked. A delta to the
/// version has the name `<pack>@<version>-<16 digits>-<16 digits>.delta`, with the start of its own SHA-256, and a pack file that the store made of
/// deltas has the same with `.pack`.
package struct ItemName: Hashable, Sendable {
  let id: String
  let version: UInt64
  /// The first 16 hexadecimal digits of the SHA-256 of the pack file.
  let digits: String
  let mode: InstallMode
  /// What a file is that has another SHA-256 than the pack file of the version.
  enum Origin: Hashable, Sendable {
    case delta
    /// The store made the file.
    case rewritten
  }

  /// The first 16 hexadecimal digits of the file's own SHA-256, and what it is. Nil for the pack file of the version and for a tree.
  private let own: String?
  let origin: Origin?

  init(id: String, version: UInt64, sha256: [UInt8], mode: InstallMode, own: ([UInt8], Origin)? = nil) {
    self.id = id
    self.version = version
    digits = sha256.prefix(8).hex
    self.mode = mode
    self.own = own?.0.prefix(8).hex
    origin = own?.1
  }

  /// - Returns: nil if the text is not such a name.
  package init?(_ text: String) {
    let halves = text.split(separator: "@", omittingEmptySubsequences: false)
    guard halves.count == 2, let id = PackName(fileName: halves[0])?.text else { return nil }
    var rest = halves[1]
    let isDelta = rest.hasSuffix(Self.deltaEnding)
    mode = isDelta || rest.hasSuffix(Self.ending) ? .packed : .unpacked
    if mode == .packed { rest.removeLast((isDelta ? Self.deltaEnding : Self.ending).utf8.count) }
    let parts = rest.split(separator: "-", omittingEmptySubsequences: false)
    guard isDelta ? parts.count == 3 : parts.count == 2 || (parts.count == 3 && mode == .packed), let version = UInt64(parts[0]),
      parts.dropFirst().allSatisfy({ [UInt8](hex: $0, count: 8) != nil })
    else { return nil }
    own = parts.count == 3 ? String(parts[2]) : nil
    origin = parts.count == 3 ? (isDelta ? .delta : .rewritten) : nil
    self.id = id
    self.version = version
    digits = String(parts[1])
    // Each version has exactly one name: no leading zeros, no plus sign.
    guard self.text == text else { return nil }
  }

  package var text: String {
    let ending = origin == .delta ? Self.deltaEnding : mode == .packed ? Self.ending : ""
    return "\(PackName.fileName(of: id))@\(version)-\(digits)\(own.map { "-\($0)" } ?? "")\(ending)"
  }

  /// Whether the name says that the file has this SHA-256, which is not that of the pack file.
  func isOwn(_ sha256: [UInt8]) -> Bool { own == sha256.prefix(8).hex }

  private static let ending = ".pack"
  private static let deltaEnding = ".delta"
}
