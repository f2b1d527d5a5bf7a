import PackFormat

/// What the files of one request are called below the directory of groups.
struct DownloadNames: Hashable, Sendable {
  /// What grows.
  let part: String
  /// The entity tag of it.
  let tag: String
  /// The whole file, checked.
  let whole: String

  init(_ place: RequestPlace) {
    let front = "\(DownloadNames.batch(place.group, place.batch))/\(paddedNumber(UInt64(place.index), radix: 10, to: 3))"
    part = front + ".part"
    tag = front + ".tag"
    whole = front + ".file"
  }

  /// The directory of a batch: small, so that nobody ever has to list a directory of 100 000 files.
  static func batch(_ group: UInt32, _ number: UInt32) -> String {
    self.group(group) + "/" + paddedNumber(UInt64(number), radix: 10, to: 5)
  }

  /// The requests of a batch.
  static func requests(_ group: UInt32, _ number: UInt32) -> String { batch(group, number) + "/requests" }

  /// The directory of a group.
  static func group(_ number: UInt32) -> String { paddedNumber(UInt64(number), radix: 16, to: 8) }

  /// The most bytes of an entity tag that is kept; a longer one is as good as none.
  static let longestTag = 512

  /// The entity tag that was kept, or that a server sent; nil for what is none, such as the zeros that a power cut leaves of a file. It becomes a line of a request.
  static func entityTag(_ bytes: some Collection<UInt8>) -> String? {
    guard (1...longestTag).contains(bytes.count), bytes.isPrintableASCII else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}

func paddedNumber(_ number: UInt64, radix: Int, to width: Int) -> String {
  let digits = String(number, radix: radix)
  return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}
