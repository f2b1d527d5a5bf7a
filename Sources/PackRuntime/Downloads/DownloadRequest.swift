/// A file to download, with its expected size and digest.
public struct DownloadRequest: Hashable, Sendable {
  /// The app's id of the request, 1 to 256 bytes, unique in its group.
  public let id: String
  /// The id that a downloader extension and the system's download service use, if it differs from ``id``. It is passed to the transport, so it must
  /// be stable, and unique in the queue.
  public let extensionID: String?
  /// The URL of the file: `https`, or `http` on the local machine only. At most 2048 bytes of ASCII.
  public let url: String
  /// The size of the file in bytes, at least 1.
  public let size: UInt64
  /// The SHA-256 of the file, 32 bytes.
  public let sha256: [UInt8]
  /// The initial priority, from 0 to 1, stored in hundredths. With priority 1, the request takes the place of a less urgent running download.
  public let priority: Double
  /// Whether the request comes before all non-essential ones. A system with essential downloads may treat it as one.
  public let isEssential: Bool

  /// Creates a request. It is checked when it is submitted.
  public init(
    id: String, extensionID: String? = nil, url: String, size: UInt64, sha256: [UInt8], priority: Double = 0.5, isEssential: Bool = false
  ) {
    self.id = id
    self.extensionID = extensionID
    self.url = url
    self.size = size
    self.sha256 = sha256
    self.priority = priority
    self.isEssential = isEssential
  }

  /// The maximum length of an id, an extension id or a group's id in bytes: two batches of the longest requests stay below 3 MB.
  static let longestID = 256
  /// The maximum length of a URL in bytes.
  static let longestURL = 2048

  /// Throws if the request could not be stored or never be downloaded.
  func check() throws(PackError) {
    try Self.check(id: id, "the id of a request")
    if let extensionID { try Self.check(id: extensionID, "the extension id of request '\(id)'") }
    guard url.utf8.count <= Self.longestURL, url.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw PackError(.usage, "the URL of request '\(id)' must be printable ASCII of at most \(Self.longestURL) bytes")
    }
    guard url.hasPrefix("https://") || url.hasPrefix("http://") else {
      throw PackError(.usage, "the URL of request '\(id)' is neither https nor http")
    }
    guard size > 0, size <= UInt64(Int64.max) else {
      throw PackError(.usage, "request '\(id)' is for \(size) bytes, but a file must have 1 to \(Int64.max)")
    }
    guard sha256.count == 32 else {
      throw PackError(.usage, "the SHA-256 of request '\(id)' is \(sha256.count) bytes, but must be 32")
    }
    try Self.check(priority: priority)
  }

  static func check(id: String, _ what: String) throws(PackError) {
    guard (1...longestID).contains(id.utf8.count), id.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
      throw PackError(.usage, "\(what) must be 1 to \(longestID) bytes without control characters")
    }
  }

  package static func check(priority: Double) throws(PackError) {
    guard (0...1).contains(priority) else {
      throw PackError(.usage, "the priority is \(priority), but must be from 0 to 1")
    }
  }
}

/// The identity of a request in a queue.
public struct DownloadID: Hashable, Sendable, CustomStringConvertible {
  /// The id of the group.
  public let group: String
  /// The app's id of the request.
  public let id: String

  /// Creates an identity.
  public init(group: String, id: String) {
    self.group = group
    self.id = id
  }

  /// The group and the id, as text for people.
  public var description: String { "\(group)/\(id)" }
}
