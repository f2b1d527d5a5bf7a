package import PackDownloads
import PackFormat

/// What tells one version of content from another, in the words of where it comes from.
public struct ContentVersion: Hashable, Sendable {
  /// The entity tag of an HTTP response, quotes included, or what a provider likes to call the version.
  public let tag: String?
  /// The date of an HTTP response's `Last-Modified`, as it came.
  public let modified: String?

  /// Makes a version. Texts that are empty, longer than 1024 bytes, or hold anything but printable ASCII, count as none.
  public init(tag: String? = nil, modified: String? = nil) {
    self.tag = Self.checked(tag)
    self.modified = Self.checked(modified)
  }

  /// The longest of its texts, in bytes: what a server may have an app keep.
  static let longestText = 1024

  private static func checked(_ text: String?) -> String? {
    guard let text, (1...longestText).contains(text.utf8.count), text.utf8.isPrintableASCII else { return nil }
    return text
  }
}

/// What an asset asks a ``DataProvider`` for.
public struct ContentRequest: Sendable {
  /// The version of what is there already; nil where nothing came from this provider yet.
  public let known: ContentVersion?
  /// The bytes that are taken at most. A provider stops receiving beyond it, with ``PackFormat/PackError/Code/limitExceeded``.
  public let sizeLimit: Int

  /// How whatever waits on the way to the content does so.
  package let clock: any QueueClock

  /// Makes a request.
  public init(known: ContentVersion? = nil, sizeLimit: Int) {
    self.init(known: known, sizeLimit: sizeLimit, clock: SystemQueueClock())
  }

  package init(known: ContentVersion?, sizeLimit: Int, clock: any QueueClock) {
    self.known = known
    self.sizeLimit = sizeLimit
    self.clock = clock
  }
}

/// What a ``DataProvider`` brings.
public enum ProvidedContent: Hashable, Sendable {
  /// What is there already is what would come.
  case unchanged
  /// The content, and which version of it that is, where the source has versions.
  case content([UInt8], version: ContentVersion? = nil)
}
