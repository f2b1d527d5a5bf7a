/// One file or directory inside a pack.
public struct Entry: Hashable, Sendable {
  /// The kind of an entry. Only empty directories are entries.
  public enum Kind: Hashable, Sendable {
    case file
    case directory
  }

  /// The path inside the pack: components separated by `/`, with no leading or trailing `/`.
  public let path: String
  /// The kind of the entry.
  public let kind: Kind
  /// The length of the content in bytes; 0 for a directory.
  public let size: UInt64
  /// Whether the file is executable.
  public let isExecutable: Bool
  /// SHA-256 of the content, 32 bytes; zeros for a directory.
  public let sha256: [UInt8]

  /// Where the content starts in the tar, in bytes.
  package let offset: UInt64

  /// The kind as it is in a record.
  package var recordKind: IndexRecord.Kind { kind == .directory ? .directory : isExecutable ? .executable : .file }

  package init(_ record: IndexRecord, digest: Span<UInt8>) {
    path = String(decoding: record.path, as: UTF8.self)
    kind = record.kind == .directory ? .directory : .file
    size = record.size
    isExecutable = record.kind == .executable
    sha256 = [UInt8](copying: digest)
    offset = record.offset
  }
}
