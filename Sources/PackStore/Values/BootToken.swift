/// A token that identifies one trial of one version of one pack. Passing it to ``AssetStore/confirm(_:)`` confirms that the version works.
///
/// The app passes its text to the page or scene that is on trial, and gets it back from there. A token is valid for its own trial only: if it comes
/// late, it confirms no other version.
public struct BootToken: Hashable, Sendable, CustomStringConvertible {
  /// The name of the pack.
  public let id: String
  /// The version on trial.
  public let version: UInt64
  /// The SHA-256 of the pack file on trial, 32 bytes.
  public let sha256: [UInt8]
  /// A random value that is unique to this trial, 16 bytes.
  public let nonce: [UInt8]

  package init(id: String, version: UInt64, sha256: [UInt8], nonce: [UInt8]) {
    self.id = id
    self.version = version
    self.sha256 = sha256
    self.nonce = nonce
  }

  /// Parses the text of a token, as returned by ``description``.
  ///
  /// - Throws: ``PackError/Code/usage`` if the text is not a token.
  public init(parsing text: String) throws(PackError) {
    // Split at '@' first: the name may contain hyphens, but no '@'.
    let halves = text.split(separator: "@", omittingEmptySubsequences: false)
    let parts = halves.count == 2 ? halves[1].split(separator: "-", omittingEmptySubsequences: false) : []
    guard parts.count == 3, let id = try? PackName(String(halves[0])).text, let version = UInt64(parts[0]), String(version) == parts[0],
      let sha256 = [UInt8](hex: parts[1], count: 32), let nonce = [UInt8](hex: parts[2], count: 16)
    else {
      throw PackError(.usage, "the text is not a boot token", advice: .developer("pass the text of BootToken.description unchanged"))
    }
    self.init(id: id, version: version, sha256: sha256, nonce: nonce)
  }

  /// The token as text: `<id>@<version>-<sha256>-<nonce>`, in ASCII.
  public var description: String { "\(id)@\(version)-\(sha256.hex)-\(nonce.hex)" }
}
