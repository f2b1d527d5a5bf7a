/// A SHA-256 as an element of a set or a key of a dictionary, without memory of its own.
package struct ContentDigest: Hashable, Sendable {
  private let words: (UInt64, UInt64, UInt64, UInt64)

  /// - Parameter bytes: 32 bytes.
  package init(_ bytes: Span<UInt8>) {
    precondition(bytes.count == 32)
    words = (
      bytes.littleEndian(UInt64.self, at: 0), bytes.littleEndian(UInt64.self, at: 8), bytes.littleEndian(UInt64.self, at: 16),
      bytes.littleEndian(UInt64.self, at: 24)
    )
  }

  package static func == (left: ContentDigest, right: ContentDigest) -> Bool { left.words == right.words }

  /// Hashes all words, because a hostile pack may have many digests that begin alike.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
    hasher.combine(words.3)
  }
}
