/// The place of a request in the queue.
struct RequestPlace: Hashable, Sendable {
  /// The number of its group.
  let group: UInt32
  /// The number of its batch in the group.
  let batch: UInt32
  /// Its number in the batch.
  let index: UInt16
}

/// An id without its text: a 48-bit hash and the number of the request in its batch.
///
/// Different ids may have the same hash, so a match must be confirmed by reading the request.
package struct RequestKey: Hashable, Comparable, Sendable {
  let bits: UInt64

  init(bits: UInt64) {
    self.bits = bits
  }

  init(_ id: String, index: UInt16) {
    bits = Self.hash(id) << 16 | UInt64(index)
  }

  var hash: UInt64 { bits >> 16 }
  var index: UInt16 { UInt16(truncatingIfNeeded: bits) }

  package static func < (left: RequestKey, right: RequestKey) -> Bool { left.bits < right.bits }

  /// Returns 48 bits of FNV-1a.
  static func hash(_ id: String) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in id.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return (hash ^ hash >> 48) & 0xffff_ffff_ffff
  }
}

/// The rank of a request: essential requests first, then by priority.
struct RequestRank: Hashable, Comparable, Sendable {
  /// The priority in hundredths, plus 128 for an essential request.
  private(set) var bits: UInt8

  init(bits: UInt8) {
    self.bits = bits
  }

  init(priority: Double, isEssential: Bool) {
    bits = UInt8((priority * 100).rounded()) | (isEssential ? 128 : 0)
  }

  var isEssential: Bool { bits & 128 != 0 }
  var isUrgent: Bool { bits & 127 == 100 }
  var priority: Double { Double(bits & 127) / 100 }

  mutating func set(priority: Double) {
    self = RequestRank(priority: priority, isEssential: isEssential)
  }

  static func < (left: RequestRank, right: RequestRank) -> Bool { left.bits < right.bits }
}

/// Up to 500 requests, which are written once and never changed.
///
/// All numbers are little-endian:
///
///     magic "PKDLREQ1" · requests u32 · extension ids u32 · bytes of the group's id u32 · bytes of the body u32 · sum of the sizes u64
///     SHA-256 of the body · the group's id · key of each id u64, ascending · key of each extension id u64, ascending · rank of each request u8
///     SHA-256 of everything above
///     body: for each request its offset u32, then for each request
///     size u64 · SHA-256 · rank u8 · bytes of id u16, of extension id u16, of URL u16 · id · extension id · URL
///
/// The queue keeps the head of each batch in memory, and the bodies of two batches.
package struct RequestBatch {
  /// The part before the body.
  package struct Head {
    package var group: String
    package var keys: [RequestKey]
    var extensionKeys: [RequestKey]
    var ranks: [RequestRank]
    var totalSize: UInt64
    package var bodySize: Int
    package var bodyDigest: [UInt8]
    /// The length of the head, which is the offset of the body.
    package var size: Int
  }

  private static let magic = Array("PKDLREQ1".utf8)
  private static let digestSize = 32
  /// The number of bytes up to and including the digest of the body.
  static let fixedSize = 8 + 4 * 4 + 8 + digestSize
  private static let recordSize = 8 + digestSize + 1 + 3 * 2
  private static let largestRecord = recordSize + 2 * DownloadRequest.longestID + DownloadRequest.longestURL
  private static let largestBody = QueuePolicy.largestBatch * (4 + largestRecord)

  /// Encodes a batch.
  package static func encode(_ requests: [DownloadRequest], group: String, backend: any CryptoBackend) throws(PackError) -> [UInt8] {
    precondition((1...QueuePolicy.largestBatch).contains(requests.count))
    var body: [UInt8] = []
    body.reserveCapacity(
      requests.reduce(0) { $0 + 4 + recordSize + $1.id.utf8.count + ($1.extensionID?.utf8.count ?? 0) + $1.url.utf8.count })
    var offset = 4 * requests.count
    for request in requests {
      body.append(littleEndian: UInt32(offset))
      offset += recordSize + request.id.utf8.count + (request.extensionID?.utf8.count ?? 0) + request.url.utf8.count
    }
    var total: UInt64 = 0
    for request in requests {
      let (sum, overflow) = total.addingReportingOverflow(request.size)
      guard !overflow else { throw PackError(.limitExceeded, "the sizes of the files in group '\(group)' overflow") }
      total = sum
      body.append(littleEndian: request.size)
      body.append(contentsOf: request.sha256)
      body.append(RequestRank(priority: request.priority, isEssential: request.isEssential).bits)
      body.append(littleEndian: UInt16(request.id.utf8.count))
      body.append(littleEndian: UInt16(request.extensionID?.utf8.count ?? 0))
      body.append(littleEndian: UInt16(request.url.utf8.count))
      body.append(contentsOf: request.id.utf8)
      if let text = request.extensionID { body.append(contentsOf: text.utf8) }
      body.append(contentsOf: request.url.utf8)
    }
    let keys = requests.enumerated().map { RequestKey($1.id, index: UInt16($0)) }.sorted()
    let extensionKeys = requests.enumerated().compactMap { number, request in
      request.extensionID.map { RequestKey($0, index: UInt16(number)) }
    }.sorted()

    let digest = try backend.makeDigest()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(fixedSize + group.utf8.count + 17 * requests.count + digestSize + body.count)
    bytes += magic
    bytes.append(littleEndian: UInt32(requests.count))
    bytes.append(littleEndian: UInt32(extensionKeys.count))
    bytes.append(littleEndian: UInt32(group.utf8.count))
    bytes.append(littleEndian: UInt32(body.count))
    bytes.append(littleEndian: total)
    try digest.update(body.byteSpan)
    bytes += try digest.finish()
    bytes += group.utf8
    for key in keys { bytes.append(littleEndian: key.bits) }
    for key in extensionKeys { bytes.append(littleEndian: key.bits) }
    for request in requests { bytes.append(RequestRank(priority: request.priority, isEssential: request.isEssential).bits) }
    try digest.update(bytes.byteSpan)
    bytes += try digest.finish()
    bytes += body
    return bytes
  }

  /// Returns the length of the head, from its first bytes.
  package static func headSize(_ bytes: Span<UInt8>) throws(PackError) -> Int {
    let counts = try self.counts(bytes)
    return fixedSize + counts.group + 9 * counts.requests + 8 * counts.extensionIDs + digestSize
  }

  private static func counts(_ bytes: Span<UInt8>) throws(PackError) -> (requests: Int, extensionIDs: Int, group: Int, body: Int) {
    var cursor = FieldCursor(failure: .damagedQueue)
    guard try cursor.bytes("magic", count: magic.count, in: bytes) == magic else { throw damaged("wrong magic") }
    let requests = try cursor.uint32("number of requests", in: bytes)
    let extensionIDs = try cursor.uint32("number of extension ids", in: bytes)
    let group = try cursor.uint32("length of the group's id", in: bytes)
    let body = try cursor.uint32("length of the body", in: bytes)
    guard (1...UInt32(QueuePolicy.largestBatch)).contains(requests), extensionIDs <= requests,
      (1...UInt32(DownloadRequest.longestID)).contains(group), body <= UInt32(largestBody)
    else { throw damaged("invalid counts") }
    return (Int(requests), Int(extensionIDs), Int(group), Int(body))
  }

  /// Parses the head, which must be all of `bytes`.
  package static func head(_ bytes: Span<UInt8>, backend: any CryptoBackend) throws(PackError) -> Head {
    let counts = try self.counts(bytes)
    guard bytes.count == fixedSize + counts.group + 9 * counts.requests + 8 * counts.extensionIDs + digestSize else {
      throw damaged("wrong head length")
    }
    let digest = try backend.makeDigest()
    try digest.update(bytes.extracting(first: bytes.count - digestSize))
    var cursor = FieldCursor(at: bytes.count - digestSize, failure: .damagedQueue)
    guard try cursor.bytes("digest", count: digestSize, in: bytes) == (try digest.finish()) else { throw damaged("wrong head digest") }
    cursor = FieldCursor(at: 24, failure: .damagedQueue)
    let total = try cursor.uint64("sum of the sizes", in: bytes)
    let bodyDigest = try cursor.bytes("digest of the body", count: digestSize, in: bytes)
    let group = try text(try cursor.bytes("the group's id", count: counts.group, in: bytes), "the group's id")
    do { try DownloadRequest.check(id: group, "the group's id") } catch { throw damaged(error.message) }
    var keys: [RequestKey] = []
    keys.reserveCapacity(counts.requests)
    for _ in 0..<counts.requests { keys.append(RequestKey(bits: try cursor.uint64("key", in: bytes))) }
    var extensionKeys: [RequestKey] = []
    extensionKeys.reserveCapacity(counts.extensionIDs)
    for _ in 0..<counts.extensionIDs { extensionKeys.append(RequestKey(bits: try cursor.uint64("key", in: bytes))) }
    guard (keys + extensionKeys).allSatisfy({ Int($0.index) < counts.requests }) else { throw damaged("invalid keys") }
    let ranks = try cursor.bytes("ranks", count: counts.requests, in: bytes).map { RequestRank(bits: $0) }
    guard ranks.allSatisfy({ $0.priority <= 1 }) else { throw damaged("invalid ranks") }
    return Head(
      group: group, keys: keys, extensionKeys: extensionKeys, ranks: ranks, totalSize: total, bodySize: counts.body,
      bodyDigest: bodyDigest, size: bytes.count)
  }

  /// The body of a batch, from which single requests are read.
  package struct Body {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8], digest expected: [UInt8], backend: any CryptoBackend) throws(PackError) {
      let digest = try backend.makeDigest()
      try digest.update(bytes.byteSpan)
      guard try digest.finish() == expected else { throw damaged("wrong body digest") }
      self.bytes = bytes
    }

    package func request(_ index: UInt16) throws(PackError) -> DownloadRequest {
      let bytes = bytes.byteSpan
      var cursor = FieldCursor(at: 4 * Int(index), failure: .damagedQueue)
      cursor = FieldCursor(at: Int(try cursor.uint32("offset", in: bytes)), failure: .damagedQueue)
      let size = try cursor.uint64("size", in: bytes)
      let sha256 = try cursor.bytes("SHA-256", count: digestSize, in: bytes)
      let rank = RequestRank(bits: try cursor.uint8("rank", in: bytes))
      let idLength = Int(try cursor.uint16("length of the id", in: bytes))
      let extensionLength = Int(try cursor.uint16("length of the extension id", in: bytes))
      let urlLength = Int(try cursor.uint16("length of the URL", in: bytes))
      let id = try text(try cursor.bytes("id", count: idLength, in: bytes), "the id of a request")
      let extensionID = try text(try cursor.bytes("extension id", count: extensionLength, in: bytes), "the extension id of a request")
      let url = try text(try cursor.bytes("URL", count: urlLength, in: bytes), "the URL of a request")
      let request = DownloadRequest(
        id: id, extensionID: extensionLength == 0 ? nil : extensionID, url: url, size: size, sha256: sha256, priority: rank.priority,
        isEssential: rank.isEssential)
      // Only requests that pass the check on submission are ever written.
      do { try request.check() } catch { throw damaged(error.message) }
      return request
    }
  }

  /// Decodes a text strictly. Replacing invalid UTF-8 would give a different, longer request.
  private static func text(_ bytes: [UInt8], _ what: String) throws(PackError) -> String {
    guard let text = String(validUTF8: bytes) else { throw damaged("\(what) is not UTF-8") }
    return text
  }

  private static func damaged(_ what: String) -> PackError {
    PackError(.damagedQueue, "a batch of requests is damaged: \(what)")
  }
}
