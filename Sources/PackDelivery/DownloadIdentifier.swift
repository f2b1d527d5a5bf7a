import PackFormat

/// What a download is called wherever it turns up: in the app, in its extension, in the system's list, as a file.
///
/// The same bytes of a pack have the same identifier everywhere and always; other bytes have another one: `<pack>@<version>-<16 digits of the SHA-256>`.
/// Capital letters of the pack's name become `+` and the small one, so that the text is a file's name on every volume.
public struct DownloadIdentifier: Hashable, Sendable, CustomStringConvertible {
  /// The name of the pack.
  public let id: String
  /// The version of the pack.
  public let version: UInt64
  /// The text.
  public let description: String

  /// The identifier of the download of some bytes of a pack.
  ///
  /// - Parameter id: a legal name of a pack, as every manifest has it.
  public init(id: String, bytes: PackBytes) {
    self.id = id
    version = bytes.version
    let file = (try? PackName(id))?.fileName ?? id
    description = "\(file)@\(bytes.version)-\(bytes.sha256.prefix(8).hex)"
  }

  /// Takes a text apart.
  ///
  /// - Returns: nil where it is not one that ``init(id:bytes:)`` makes: somebody else's download.
  public init?(_ text: String) {
    let halves = text.split(separator: "@", omittingEmptySubsequences: false)
    guard halves.count == 2, let name = PackName(fileName: halves[0]) else { return nil }
    let parts = halves[1].split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, let version = UInt64(parts[0]), String(version) == parts[0], version <= Limits.packVersion,
      parts[1].utf8.count == 16,
      parts[1].utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
    else { return nil }
    id = name.text
    self.version = version
    description = text
  }
}
