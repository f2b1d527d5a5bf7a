package import PackFormat

/// One file to download: where it is, and what it must be.
public struct DownloadRequest: Hashable, Sendable {
  /// What the app calls it, 1 to 256 bytes; unique in its group.
  public let id: String
  /// What a downloader extension and the system's own download service call it, where that is something else than ``id``. The transport
  /// gets this one, so it must be stable, and unique in the queue.
  public let extensionID: String?
  /// Where the file is: `https`, or `http` to the machine itself. At most 2048 bytes of ASCII.
  public let url: String
  /// The bytes of the file, at least 1.
  public let size: UInt64
  /// SHA-256 of the file, 32 bytes.
  public let sha256: [UInt8]
  /// How urgent it is when it is submitted, from 0 to 1, kept in steps of a hundredth. At 1, it takes the place of a running download that is less urgent.
  public let priority: Double
  /// Whether it comes before all that are not essential, and a system that knows the difference may count it as such.
  public let isEssential: Bool

  /// Makes a request. It is checked when it is submitted.
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

  /// The most bytes an id, an extension id or the id of a group may have: two batches of the longest requests stay below 3 MB.
  static let longestID = 256
  /// The most bytes a URL may have.
  static let longestURL = 2048

  /// Refuses what could not be kept, or never be downloaded.
  func check() throws(PackError) {
    try Self.check(id: id, "the id of a request")
    if let extensionID { try Self.check(id: extensionID, "the extension id of request '\(id)'") }
    guard url.utf8.count <= Self.longestURL, url.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw PackError(.usage, "the URL of request '\(id)' is not \(Self.longestURL) bytes of printable ASCII or fewer")
    }
    guard url.hasPrefix("https://") || url.hasPrefix("http://") else {
      throw PackError(.usage, "the URL of request '\(id)' is neither https nor http")
    }
    guard size > 0, size <= UInt64(Int64.max) else {
      throw PackError(.usage, "request '\(id)' is for \(size) bytes, and a file has from 1 to \(Int64.max)")
    }
    guard sha256.count == 32 else {
      throw PackError(.usage, "the SHA-256 of request '\(id)' is \(sha256.count) bytes, and must be 32")
    }
    try Self.check(priority: priority)
  }

  static func check(id: String, _ what: String) throws(PackError) {
    guard (1...longestID).contains(id.utf8.count), id.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
      throw PackError(.usage, "\(what) is not 1 to \(longestID) bytes without control characters")
    }
  }

  package static func check(priority: Double) throws(PackError) {
    guard (0...1).contains(priority) else {
      throw PackError(.usage, "\(priority) is not a priority from 0 to 1")
    }
  }
}

/// The name of a request in a queue.
public struct DownloadID: Hashable, Sendable, CustomStringConvertible {
  /// The group it was submitted in.
  public let group: String
  /// What the app calls it there.
  public let id: String

  /// Makes a name.
  public init(group: String, id: String) {
    self.group = group
    self.id = id
  }

  /// Group and id, for people.
  public var description: String { "\(group)/\(id)" }
}
