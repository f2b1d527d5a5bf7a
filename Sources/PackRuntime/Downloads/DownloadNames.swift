/// The names of one request's files, relative to the directory of groups.
struct DownloadNames: Hashable, Sendable {
  /// The growing file.
  let part: String
  /// The file with the entity tag of the growing file.
  let tag: String
  /// The complete, checked file.
  let whole: String

  init(_ place: RequestPlace) {
    let front = "\(DownloadNames.batch(place.group, place.batch))/\(paddedNumber(UInt64(place.index), radix: 10, to: 3))"
    part = front + ".part"
    tag = front + ".tag"
    whole = front + ".file"
  }

  /// The directory of a batch. Batches are small, so that no directory has 100 000 files to list.
  static func batch(_ group: UInt32, _ number: UInt32) -> String {
    self.group(group) + "/" + paddedNumber(UInt64(number), radix: 10, to: 5)
  }

  /// The file with the requests of a batch.
  static func requests(_ group: UInt32, _ number: UInt32) -> String { batch(group, number) + "/requests" }

  /// The directory of a group.
  static func group(_ number: UInt32) -> String { paddedNumber(UInt64(number), radix: 16, to: 8) }

  /// The maximum length of a stored entity tag in bytes; longer ones are ignored.
  static let longestTag = 512

  /// Returns an entity tag that was stored or received from a server. Returns nil for invalid tags, such as the zeros that a power failure leaves in
  /// a file. The tag becomes a header line of a request.
  static func entityTag(_ bytes: some Collection<UInt8>) -> String? {
    guard (1...longestTag).contains(bytes.count), bytes.isPrintableASCII else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}

func paddedNumber(_ number: UInt64, radix: Int, to width: Int) -> String {
  let digits = String(number, radix: radix)
  return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}
