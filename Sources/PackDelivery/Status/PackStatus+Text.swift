// The text form of a record: lines with a key and a value in fixed order, and a checksum in the last line.
extension PackStatus {
  static let firstLine = "packer-delivery-status/2"
  /// The maximum size of a record in bytes: more than twice what the longest values need.
  package static let largestSize = 1024

  /// The record as a file.
  package var record: [UInt8] {
    let text = """
      \(Self.firstLine)
      pack \(id)
      version \(bytes.version)
      size \(bytes.size)
      sha256 \(bytes.sha256.hex)
      state \(state)
      since \(since)
      attempts \(attempts)
      delay \(delaySeconds)
      essential \(isEssential ? "yes" : "no")
      wanted \(isWanted ? "yes" : "no")

      """ + updateText
    return Array(text.utf8) + Array("check \(Self.check(of: text.utf8))\n".utf8)
  }

  /// The lines that only an update, or a pack with a lead has.
  private var updateText: String {
    var text = ""
    if let delta { text += "delta \(delta.size) \(delta.sha256.hex)\n" }
    if let lead { text += "lead \(lead.size) \(lead.sha256.hex)\n" }
    if let fallback { text += "full \(fallback.rawValue)\n" }
    return text
  }

  /// Parses a record.
  ///
  /// - Throws: ``PackFormat/PackError/Code/damagedState`` for anything that ``record`` would not write for this pack.
  package init(reading record: [UInt8], of id: String) throws(PackError) {
    guard let status = Self(parsing: record), status.id == id, status.record == record else {
      throw PackError(
        .damagedState, "the delivery record of '\(id)' cannot be read",
        advice: .tryAgain)
    }
    self = status
  }

  private init?(parsing record: [UInt8]) {
    guard record.count <= Self.largestSize else { return nil }
    let lines = record.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    guard (13...15).contains(lines.count) else { return nil }
    var number = 0
    func value(_ key: String) -> String? {
      number += 1
      let line = lines[number]
      guard line.starts(with: key.utf8), line.dropFirst(key.utf8.count).first == UInt8(ascii: " ") else { return nil }
      return String(decoding: line.dropFirst(key.utf8.count + 1), as: UTF8.self)
    }
    func truth(_ text: String?) -> Bool? { text == "yes" ? true : text == "no" ? false : nil }
    guard let pack = value("pack"), (try? PackName(pack)) != nil,
      let version = value("version").flatMap({ UInt64($0) }), let size = value("size").flatMap({ UInt64($0) }),
      let sha256 = value("sha256").flatMap({ [UInt8](hex: $0, count: 32) }), let state = value("state").flatMap(DeliveryState.init),
      let since = value("since").flatMap({ Int64($0) }), let attempts = value("attempts").flatMap({ UInt32($0) }),
      let delay = value("delay").flatMap({ UInt32($0) }), let isEssential = truth(value("essential")),
      let isWanted = truth(value("wanted"))
    else { return nil }
    self.init(id: pack, bytes: PackBytes(version: version, size: size, sha256: sha256), at: since)
    self.state = state
    self.attempts = attempts
    delaySeconds = delay
    self.isEssential = isEssential
    self.isWanted = isWanted
    // What else is there is compared with what would be written.
    for line in lines[11...] { readUpdate(String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)) }
  }

  private mutating func readUpdate(_ words: [String]) {
    switch (words.first, words.count) {
    case ("delta", 3): delta = file(words)
    case ("lead", 3): lead = file(words)
    case ("full", 2): fallback = FailureReason(rawValue: words[1])
    default: break
    }
  }

  private func file(_ words: [String]) -> PackBytes? {
    guard let size = UInt64(words[1]), let sha256 = [UInt8](hex: words[2], count: 32) else { return nil }
    return PackBytes(version: bytes.version, size: size, sha256: sha256)
  }

  /// Returns the 64-bit FNV-1a hash as 16 digits. It detects accidental damage. Deliberate changes need no protection: a false record costs at most a
  /// download.
  static func check(of bytes: some Sequence<UInt8>) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
