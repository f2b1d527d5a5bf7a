import PackFiles
import PackFormat

/// What an asset starts with: content that the app was built with.
public struct BundledResource: Hashable, Sendable {
  enum Place: Hashable, Sendable {
    case bytes([UInt8])
    case file(String)
  }

  let place: Place

  /// Bytes that are at hand.
  public static func bytes(_ bytes: [UInt8]) -> BundledResource { BundledResource(place: .bytes(bytes)) }

  /// The UTF-8 of a text.
  public static func text(_ text: String) -> BundledResource { .bytes(Array(text.utf8)) }

  /// The file at a path, such as one that `Bundle` tells.
  public static func file(_ path: String) -> BundledResource { BundledResource(place: .file(path)) }

  func read(limit: Int, files: any FileSystem) throws(PackError) -> [UInt8] {
    switch place {
    case .file(let path):
      return try files.contents(of: path, limit: limit)
    case .bytes(let bytes):
      guard bytes.count <= limit else { throw PackError(.limitExceeded, "it has \(bytes.count) bytes, and at most \(limit) are taken") }
      return bytes
    }
  }
}
