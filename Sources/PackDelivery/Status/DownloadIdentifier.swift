/// The identifier of a download, used by the app, its extension, the system's list of downloads, and file names.
///
/// It has the form `<pack>@<version>-<16 digits of the SHA-256>`. The same bytes of a pack always have the same identifier, and other bytes have
/// another one. An upper-case letter in the pack's name becomes `+` and the lower-case letter, so that the identifier works as a file name on every
/// volume.
public struct DownloadIdentifier: Hashable, Sendable, CustomStringConvertible {
  /// The name of the pack.
  public let id: String
  /// The version of the pack.
  public let version: UInt64
  /// The text.
  public let description: String

  /// Creates the identifier for the download of some bytes of a pack.
  ///
  /// - Parameter id: a valid pack name, as in every manifest.
  public init(id: String, bytes: PackBytes) {
    self.id = id
    version = bytes.version
    description = "\(PackName.fileName(of: id))@\(bytes.version)-\(bytes.sha256.prefix(8).hex)"
  }

  /// Parses an identifier.
  ///
  /// - Returns: nil if ``init(id:bytes:)`` cannot have created the text, so the download is not one of a pack.
  public init?(_ text: String) {
    let halves = text.split(separator: "@", omittingEmptySubsequences: false)
    guard halves.count == 2, let name = PackName(fileName: halves[0])?.text else { return nil }
    let parts = halves[1].split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let version = UInt64(parts[0]), String(version) == parts[0], version <= Limits.packVersion,
      [UInt8](hex: parts[1], count: 8) != nil
    else { return nil }
    id = name
    self.version = version
    description = text
  }
}

extension PackName {
  /// Returns the name for a file of a pack, whose name is valid.
  static func fileName(of id: String) -> String { (try? PackName(id))?.fileName ?? id }
}
