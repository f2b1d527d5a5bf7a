import PackFormat
import PackManifest

/// The name of one version of a pack in the directory `packs`: `<pack>@<version>-<16 digits>.pack`, without `.pack` if it was unpacked.
package struct ItemName: Hashable, Sendable {
  let id: String
  let version: UInt64
  /// The first 16 hexadecimal digits of the SHA-256 of the pack file.
  let digits: String
  let mode: InstallMode

  init(id: String, version: UInt64, sha256: [UInt8], mode: InstallMode) {
    self.id = id
    self.version = version
    digits = sha256.prefix(8).hex
    self.mode = mode
  }

  /// - Returns: nil if the text is not such a name.
  package init?(_ text: String) {
    let halves = text.split(separator: "@", omittingEmptySubsequences: false)
    guard halves.count == 2, let id = PackName(fileName: halves[0])?.text else { return nil }
    var rest = halves[1]
    mode = rest.hasSuffix(Self.ending) ? .packed : .unpacked
    if mode == .packed { rest.removeLast(Self.ending.utf8.count) }
    let parts = rest.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let version = UInt64(parts[0]), [UInt8](hex: parts[1], count: 8) != nil else { return nil }
    self.id = id
    self.version = version
    digits = String(parts[1])
    // Each version has exactly one name: no leading zeros, no plus sign.
    guard self.text == text else { return nil }
  }

  package var text: String { "\(PackName.fileName(of: id))@\(version)-\(digits)\(mode == .packed ? Self.ending : "")" }

  private static let ending = ".pack"
}
