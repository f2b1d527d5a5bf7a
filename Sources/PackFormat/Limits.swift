/// Every maximum of the format, with its reason (FORMAT.md §6).
public enum Limits {
  /// The largest pack, in bytes (2^40). AES-GCM's bounds still leave a margin of 2^-57 for one key there.
  package static let packSize: UInt64 = 1 << 40

  /// The smallest ciphertext segment, in bytes. Below it tags and calls cost more than the cipher.
  package static let smallestSegment: UInt32 = 4096

  /// The largest ciphertext segment, in bytes. A reader holds two.
  package static let largestSegment: UInt32 = 1 << 20

  /// The ciphertext segment a writer uses unless told otherwise, in bytes: near full cipher speed, and a small read costs 13 µs.
  package static let defaultSegment: UInt32 = 1 << 16

  /// The longest list of key stanzas, in bytes.
  package static let stanzaBytes: UInt32 = 16_384

  /// The longest header with its MAC, in bytes: what a reader may have to fetch before it knows anything.
  package static let headerSize = 132 + Int(stanzaBytes)

  /// The largest pack version (2^53 − 1), so that JSON can carry it.
  package static let packVersion: UInt64 = (1 << 53) - 1

  /// The longest pack name, in bytes.
  package static let nameLength = 64

  /// The zstd levels that a writer may ask for: all positive ones but 20 to 22, which zstd keeps for machines with much memory.
  package static let compressionLevels = 1...19

  /// The most entries of a seek table, so that it stays within 1 MiB.
  package static let frames = 131_072

  /// The most records of an index (2^20).
  package static let records = 1 << 20

  /// Records in one block of the index, but for the last block.
  package static let recordsPerBlock = 128

  /// The longest path, in bytes.
  package static let pathLength = 1024

  /// The longest component of a path, in bytes: what file systems take.
  package static let componentLength = 255

  /// The largest decompressed data frame, in bytes. A reader holds one.
  package static let frameSize = 8 << 20

  /// The smallest frame size a writer accepts, in bytes. Below it compression suffers badly.
  package static let smallestFrameSize = 64 << 10

  /// The frame size a writer uses unless told otherwise, in bytes.
  package static let defaultFrameSize = 2 << 20

  /// The largest block of index records, decompressed, in bytes: 128 records of the longest path.
  package static let indexBlockSize = recordsPerBlock * (IndexRecord.fixedSize + pathLength)

  /// The largest directory of the index, decompressed, in bytes. A reader holds it while the pack is open.
  package static let indexDirectorySize = 2 << 20

  /// The content that is unpacked without a signed manifest that allows more, in bytes (64 GiB).
  public static let contentSizeWithoutManifest: UInt64 = 64 << 30

  /// The piece of payload that one tag of the deterministic salt covers, in bytes (FORMAT.md §2).
  package static let saltPiece = 1 << 20

  /// zstd's bound on what `count` bytes compress to, in bytes. A seek table that claims more is refused before it is believed.
  package static func compressBound(_ count: Int) -> Int {
    count + (count >> 8) + (count < (128 << 10) ? ((128 << 10) - count) >> 11 : 0)
  }
}
