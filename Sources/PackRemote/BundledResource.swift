/// The content that an asset starts with, built into the app.
public struct BundledResource: Hashable, Sendable {
  enum Place: Hashable, Sendable {
    case bytes([UInt8])
    case file(String)
  }

  let place: Place

  /// Returns a resource with the given bytes.
  public static func bytes(_ bytes: [UInt8]) -> BundledResource { BundledResource(place: .bytes(bytes)) }

  /// Returns a resource with the UTF-8 bytes of a text.
  public static func text(_ text: String) -> BundledResource { .bytes(Array(text.utf8)) }

  /// Returns a resource in the file at a path, for example a path from `Bundle`.
  public static func file(_ path: String) -> BundledResource { BundledResource(place: .file(path)) }

  func read(limit: Int, files: any FileSystem) throws(PackError) -> [UInt8] {
    switch place {
    case .file(let path):
      return try files.contents(of: path, limit: limit)
    case .bytes(let bytes):
      guard bytes.count <= limit else { throw PackError(.limitExceeded, "it is \(bytes.count) bytes, but the limit is \(limit) bytes") }
      return bytes
    }
  }
}
