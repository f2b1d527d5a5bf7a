/// The version of some content, as its source identifies it.
public struct ContentVersion: Hashable, Sendable {
  /// The entity tag of an HTTP response, including quotes, or any text by which a provider identifies the version.
  public let tag: String?
  /// The value of the `Last-Modified` field of an HTTP response, unchanged.
  public let modified: String?

  /// Creates a version. A text counts as nil if it is empty, longer than 1024 bytes, or not only printable ASCII.
  public init(tag: String? = nil, modified: String? = nil) {
    self.tag = Self.checked(tag)
    self.modified = Self.checked(modified)
  }

  /// The maximum length of each text, in bytes. It limits how much a server can make an app store.
  static let longestText = 1024

  private static func checked(_ text: String?) -> String? {
    guard let text, (1...longestText).contains(text.utf8.count), text.utf8.isPrintableASCII else { return nil }
    return text
  }
}

/// The request of an asset to a ``DataProvider``.
public struct ContentRequest: Sendable {
  /// The version of the content that the asset has already. Nil if it has none from this provider, or none with a version.
  public let known: ContentVersion?
  /// The maximum size of the content, in bytes. A provider stops at it and throws ``PackFormat/PackError/Code/limitExceeded``.
  public let sizeLimit: Int

  /// The clock for timeouts and waits between attempts.
  package let clock: any DeviceClock

  /// Creates a request.
  public init(known: ContentVersion? = nil, sizeLimit: Int) {
    self.init(known: known, sizeLimit: sizeLimit, clock: SystemClock())
  }

  package init(known: ContentVersion?, sizeLimit: Int, clock: any DeviceClock) {
    self.known = known
    self.sizeLimit = sizeLimit
    self.clock = clock
  }
}

/// The result of a ``DataProvider``.
public enum ProvidedContent: Hashable, Sendable {
  /// The content is the same as that of ``ContentRequest/known``.
  case unchanged
  /// New content, with its version if the source has versions.
  case content([UInt8], version: ContentVersion? = nil)
}
