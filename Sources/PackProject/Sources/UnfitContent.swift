/// The content of a file that cannot be what the file's name says: a failed download, a full disk, or a checkout without links or large files.
package enum UnfitContent: Hashable, Sendable {
  /// No byte.
  case nothing
  /// Only bytes that are zero.
  case zeros
  /// Only text.
  case text
  /// A web page.
  case page

  /// What a file of some kind of name must not have; nil if the content is none of these.
  package init?(_ content: Span<UInt8>) {
    guard content.count > 0 else {
      self = .nothing
      return
    }
    if content[0] == 0 {
      guard content.indices.allSatisfy({ content[$0] == 0 }) else { return nil }
      self = .zeros
    } else if Self.startsPage(content) {
      self = .page
    } else if content.count <= Self.longestText, content.indices.allSatisfy({ Self.isText(content[$0]) }) {
      self = .text
    } else {
      return nil
    }
  }

  /// Whether a file of this name cannot have the content. False if nothing is known about such names.
  package func isUnfit(for path: String) -> Bool {
    guard let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")), path.utf8.distance(from: dot, to: path.utf8.endIndex) <= 6 else {
      return false
    }
    let ending = String(Substring(path.utf8[path.utf8.index(after: dot)...])).lowercased()
    return switch self {
    case .nothing, .text: Self.media.contains(ending)
    case .page: Self.media.contains(ending) || Self.scripts.contains(ending)
    case .zeros: Self.media.contains(ending) || Self.scripts.contains(ending) || ending == "html"
    }
  }

  /// What the file holds, which continues a sentence about it.
  package var reason: String {
    switch self {
    case .nothing: "is empty"
    case .zeros: "holds only zeros"
    case .text: "holds only text"
    case .page: "holds a web page"
    }
  }

  /// The endings of names of pictures, sounds, videos, fonts and compiled programs, in which there are always bytes that no text has.
  private static let media: Set<String> = [
    "png", "jpg", "jpeg", "gif", "webp", "avif", "bmp", "ico", "ogg", "oga", "opus", "mp3", "m4a", "aac", "wav", "flac", "mp4", "m4v",
    "webm", "woff", "woff2", "ttf", "otf", "wasm", "glb", "ktx2", "basis",
  ]
  /// The endings of names of texts that no page starts.
  private static let scripts: Set<String> = ["js", "mjs", "json", "css"]

  /// The size in bytes up to which a file of media is recognised as a text: the target of a link, or a server's answer.
  private static let longestText = 1024

  private static func isText(_ byte: UInt8) -> Bool { (0x20..<0x7F).contains(byte) || (0x09...0x0D).contains(byte) }

  private static func startsPage(_ content: Span<UInt8>) -> Bool {
    var start = 0
    while start < min(content.count, 64), content[start] <= 0x20 { start += 1 }
    guard start < content.count, content[start] == UInt8(ascii: "<") else { return false }
    return ["<!doctype html", "<html"].contains { text in
      guard text.utf8.count <= content.count - start else { return false }
      // Only letters differ by that bit: the other bytes of the texts have it.
      return text.utf8.enumerated().allSatisfy { content[start + $0.offset] | 0x20 == $0.element }
    }
  }
}
