import PackFormat
import PackManifest

/// The name of one version of a pack in the directory `packs`: `<pack>@<version>-<16 digits>.pack`, or without the end where it was unpacked.
struct ItemName: Hashable, Sendable {
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

  /// - Returns: nil where no store gives such a name.
  init?(_ text: String) {
    let halves = text.split(separator: "@", omittingEmptySubsequences: false)
    guard halves.count == 2, let id = Self.id(ofFile: String(halves[0])) else { return nil }
    var rest = halves[1]
    mode = rest.hasSuffix(Self.ending) ? .packed : .unpacked
    if mode == .packed { rest.removeLast(Self.ending.utf8.count) }
    let parts = rest.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let version = UInt64(parts[0]), [UInt8](hex: parts[1], count: 8) != nil else { return nil }
    self.id = id
    self.version = version
    digits = String(parts[1])
    // One name for each version: no leading zeros, no plus sign.
    guard self.text == text else { return nil }
  }

  var text: String { "\(Self.file(ofID: id))@\(version)-\(digits)\(mode == .packed ? Self.ending : "")" }

  private static let ending = ".pack"

  /// The name of a pack as a file's. Capital letters become `+` and the small one: some volumes take both for the same name.
  static func file(ofID id: String) -> String {
    String(decoding: id.utf8.flatMap { (65...90).contains($0) ? [UInt8(ascii: "+"), $0 | 0x20] : [$0] }, as: UTF8.self)
  }

  /// The name of the pack that a file is named after; nil where none is.
  static func id(ofFile name: String) -> String? {
    var bytes: [UInt8] = []
    var isCapital = false
    for byte in name.utf8 {
      if byte == UInt8(ascii: "+"), !isCapital {
        isCapital = true
      } else {
        guard !isCapital || (97...122).contains(byte) else { return nil }
        bytes.append(isCapital ? byte & ~0x20 : byte)
        isCapital = false
      }
    }
    guard !isCapital, let id = try? PackName(String(decoding: bytes, as: UTF8.self)).text, file(ofID: id) == name else { return nil }
    return id
  }
}
