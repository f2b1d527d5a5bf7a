/// The name of one version of a pack in the directory `packs`: `<pack>@<version>-<16 digits>.pack`, without `.pack` if it was unpacked. A pack file that
/// the store made by a delta has the name `<pack>@<version>-<16 digits>-<16 digits>.pack`, with the start of its own SHA-256.
package struct ItemName: Hashable, Sendable {
  package let id: String
  package let version: UInt64
  /// The first 16 hexadecimal digits of the SHA-256 of the published pack file.
  package let digits: String
  package let mode: InstallMode
  /// The first 16 hexadecimal digits of the SHA-256 of a file that the store made. Nil for the published one and for a tree.
  private let own: String?

  package init(id: String, version: UInt64, sha256: [UInt8], mode: InstallMode, rewritten: [UInt8]? = nil) {
    self.id = id
    self.version = version
    digits = sha256.prefix(8).hex
    self.mode = mode
    own = rewritten?.prefix(8).hex
  }

  /// - Returns: nil if the text is not such a name.
  package init?(_ text: String) {
    let halves = text.split(separator: "@", omittingEmptySubsequences: false)
    guard halves.count == 2, let id = PackName(fileName: halves[0])?.text else { return nil }
    var rest = halves[1]
    mode = rest.hasSuffix(Self.ending) ? .packed : .unpacked
    if mode == .packed { rest.removeLast(Self.ending.utf8.count) }
    let parts = rest.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2 || (parts.count == 3 && mode == .packed), let version = UInt64(parts[0]),
      parts.dropFirst().allSatisfy({ [UInt8](hex: $0, count: 8) != nil })
    else { return nil }
    own = parts.count == 3 ? String(parts[2]) : nil
    self.id = id
    self.version = version
    digits = String(parts[1])
    // Each version has exactly one name: no leading zeros, no plus sign.
    guard self.text == text else { return nil }
  }

  package var text: String {
    "\(PackName.fileName(of: id))@\(version)-\(digits)\(own.map { "-\($0)" } ?? "")\(mode == .packed ? Self.ending : "")"
  }

  /// Whether the store made the file by a delta.
  package var isRewritten: Bool { own != nil }

  /// Whether the name says that the file, which the store made, has this SHA-256.
  package func isOwn(_ sha256: [UInt8]) -> Bool { own == sha256.prefix(8).hex }

  private static let ending = ".pack"
}
