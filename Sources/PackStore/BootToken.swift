public import PackFormat

/// Names one trial of one version of one pack. Whoever shows it says that this version works.
///
/// Its text goes to the page or scene that is on trial and comes back from there. It is good for this trial only: a late one blesses nothing else.
public struct BootToken: Hashable, Sendable, CustomStringConvertible {
  /// The name of the pack.
  public let id: String
  /// The version on trial.
  public let version: UInt64
  /// The SHA-256 of the pack file on trial, 32 bytes.
  public let sha256: [UInt8]
  /// What tells this trial from every other one, 16 bytes.
  public let nonce: [UInt8]

  package init(id: String, version: UInt64, sha256: [UInt8], nonce: [UInt8]) {
    self.id = id
    self.version = version
    self.sha256 = sha256
    self.nonce = nonce
  }

  /// Reads what ``description`` wrote.
  ///
  /// - Throws: ``PackError/Code/usage`` where it is not such a text.
  public init(parsing text: String) throws(PackError) {
    // From its end: the name may hold hyphens itself, but no '@'.
    let halves = text.split(separator: "@", omittingEmptySubsequences: false)
    let parts = halves.count == 2 ? halves[1].split(separator: "-", omittingEmptySubsequences: false) : []
    guard parts.count == 3, let id = try? PackName(String(halves[0])).text, let version = UInt64(parts[0]), String(version) == parts[0],
      let sha256 = [UInt8](hex: parts[1], count: 32), let nonce = [UInt8](hex: parts[2], count: 16)
    else {
      throw PackError(.usage, "the text is not a boot token", advice: .developer("hand back what BootToken.description gave, unchanged"))
    }
    self.init(id: id, version: version, sha256: sha256, nonce: nonce)
  }

  /// The token as text: `<id>@<version>-<sha256>-<nonce>`, in ASCII.
  public var description: String { "\(id)@\(version)-\(sha256.hex)-\(nonce.hex)" }
}

extension [UInt8] {
  /// Reads lower-case hexadecimal of exactly so many bytes.
  init?(hex text: some StringProtocol, count: Int) {
    let digits = Array(text.utf8)
    guard digits.count == 2 * count else { return nil }
    func value(_ digit: UInt8) -> UInt8? {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
      default: nil
      }
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for index in 0..<count {
      guard let high = value(digits[2 * index]), let low = value(digits[2 * index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    self = bytes
  }
}
