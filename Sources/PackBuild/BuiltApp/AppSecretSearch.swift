/// A search for secrets in one file of an app, which is passed in pieces.
final class AppSecretSearch {
  private var scanner = SecretScanner()
  private let name: String
  /// The reason if the first bytes are those of a key.
  private var start: String?
  private var isStarted = false
  /// The end of the piece before, for a key that continues in the next.
  private var carry: [UInt8] = []
  private var keys: [String] = []

  /// Google's API keys identify an app, and are in each that uses its services.
  private static let expected = "gcp-api-key"
  /// The length of a key's text.
  private static let keySize = 5 + 64 + 1 + 8
  /// The most keys of one file that are named.
  private static let mostKeys = 1000

  init(_ place: String) {
    name = PathParts(place)?.name ?? place
  }

  deinit {
    // May hold a part of a key.
    wipe(&carry)
  }

  func add(_ piece: Span<UInt8>, isLast: Bool) {
    if !isStarted, isLast, piece.count <= Int(SourceRules.largestSecret) { start = SourceRules.secret(content: piece) }
    isStarted = true
    scanner.add(piece, isLast: isLast)
    if scanner.matches.contains(where: { $0.rule.id == "packer-content-key" }) {
      var joint = carry
      joint.append(copying: piece)
      collectKeys(joint.byteSpan)
      wipe(&joint)
    }
    // A match is found up to so many bytes after it.
    let kept = min(piece.count, SecretScanner.ahead + Self.keySize)
    wipe(&carry)
    carry = Array(copying: piece.extracting(last: kept))
  }

  /// Notes the ids of all content keys in a text.
  private func collectKeys(_ bytes: Span<UInt8>) {
    let prefix = Array("pkk1-".utf8)
    var index = 0
    while index + Self.keySize <= bytes.count, keys.count < Self.mostKeys {
      guard bytes[index] == prefix[0], equal(bytes.extracting(index..<index + prefix.count), prefix.byteSpan) else {
        index += 1
        continue
      }
      if let key = try? PackKey(text: bytes.extracting(index..<index + Self.keySize)), !keys.contains("\(key.id)") {
        keys.append("\(key.id)")
      }
      index += Self.keySize
    }
  }

  /// What the file is; nil if it seems to hold no secret.
  var found: BuiltApp.Secret.Kind? {
    let rules = scanner.matches.map(\.rule)
    if rules.contains(where: { $0.id == "packer-signing-key" || $0.id == "packer-root-signing-key" }) { return .signingKey }
    if !keys.isEmpty { return .contentKeys(keys.sorted()) }
    if let start { return .other(start) }
    if let rule = rules.first(where: { $0.id != Self.expected && $0.id != "packer-content-key" }) {
      return .other("contains what looks like \(rule.what) (\(rule.id))")
    }
    return SourceRules.secret(name).map { .other($0) }
  }
}
