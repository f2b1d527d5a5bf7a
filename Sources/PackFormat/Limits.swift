/// Every maximum of the format, with its reason (FORMAT.md §6).
public enum Limits {
  /// The largest pack, in bytes (2^40). At this size AES-GCM's bounds still leave a margin of 2^-57 for one key.
  package static let packSize: UInt64 = 1 << 40

  /// The smallest ciphertext segment, in bytes. Below this size, tags and calls cost more than the cipher.
  package static let smallestSegment: UInt32 = 4096

  /// The largest ciphertext segment, in bytes. A reader holds two.
  package static let largestSegment: UInt32 = 1 << 20

  /// The default ciphertext segment of writers, in bytes: near full cipher speed, and a small read costs 13 µs.
  package static let defaultSegment: UInt32 = 1 << 16

  /// The longest list of key stanzas, in bytes.
  package static let stanzaBytes: UInt32 = 16_384

  /// The longest header with its MAC, in bytes: the most that a reader must fetch before it can check anything.
  package static let headerSize = 132 + Int(stanzaBytes)

  /// The largest pack version (2^53 − 1), so that JSON can carry it.
  package static let packVersion: UInt64 = (1 << 53) - 1

  /// The most that a writer goes above the last known version of a manifest or pack. Devices refuse every version below one that they had, so one wrong
  /// number would use up all that follow.
  package static let versionStep: UInt64 = 1 << 32

  /// Whether no writer goes from one version to the other.
  package static func isVersionJump(from known: UInt64, to version: UInt64) -> Bool { version > known.adding(versionStep) }

  /// The longest pack name, in bytes.
  package static let nameLength = 64

  /// The zstd levels that a writer may ask for: all positive levels except 20 to 22, which need much memory.
  package static let compressionLevels = 1...19

  /// The largest number of entries of a seek table, which keeps it within about 1 MiB.
  package static let frames = 131_072

  /// The largest number of records of an index (2^20).
  package static let records = 1 << 20

  /// The number of records in each block of the index except the last.
  package static let recordsPerBlock = 128

  /// The longest path, in bytes.
  package static let pathLength = 1024

  /// The longest component of a path, in bytes: the limit of file systems.
  package static let componentLength = 255

  /// The largest decompressed data frame, in bytes. A reader holds one.
  package static let frameSize = 8 << 20

  /// The smallest frame size a writer accepts, in bytes. Below this size compression is poor.
  package static let smallestFrameSize = 64 << 10

  /// The default frame size of writers, in bytes.
  package static let defaultFrameSize = 2 << 20

  /// The largest block of index records, decompressed, in bytes: 128 records of the longest path.
  package static let indexBlockSize = recordsPerBlock * (pathLength + 1 + RecordColumns.fixedSize)

  /// The largest directory of the index, decompressed, in bytes. A reader holds it while the pack is open.
  package static let indexDirectorySize = 2 << 20

  /// The largest content of a pack, in bytes (64 GiB). A signed manifest allows what it names, and no more.
  public static let contentSize: UInt64 = 64 << 30

  /// The largest number of directories of a tree, implied ones and the root included. They take 256 MiB, although a few kilobytes of index name them.
  package static let directories = 65_536

  /// The largest number of components of a path. Reading or removing a tree keeps one directory open for each, and an app on Apple systems may open
  /// 256 files.
  package static let pathDepth = 64

  /// The largest number of bases of a delta.
  package static let deltaBases = 4

  /// The largest number of copies of a delta.
  package static let deltaCopies = 1 << 19

  /// The lengths of a copy of a delta in bytes.
  package static let deltaCopyLengths: ClosedRange<UInt64> = 32...1 << 20

  /// The largest number of extra ranges of a window of a delta.
  package static let deltaRanges = 1024

  /// The largest output of a window of a delta, in bytes, and the largest part of its prefix that is literals before it.
  package static let deltaWindowSize = 1 << 21

  /// The largest part of the prefix of a window that is from the bases, in bytes.
  package static let deltaContextSize = 1 << 22

  /// The longest list of a tree in a delta, or of its first base, in bytes. A reader holds it while the pack is open.
  package static let deltaListSize = 16 << 20

  /// The largest head of a delta, decompressed, in bytes.
  package static let deltaHeadSize = 4 << 20

  /// The piece of payload that one tag of the deterministic salt covers, in bytes (FORMAT.md §2).
  package static let saltPiece = 1 << 20

  /// Returns zstd's upper bound on the compressed size of `count` bytes. A seek table that claims more is refused.
  package static func compressBound(_ count: Int) -> Int {
    count + (count >> 8) + (count < (128 << 10) ? ((128 << 10) - count) >> 11 : 0)
  }
}
