import CLibArchive

/// A libarchive reader of a stream that gzip compressed, in one part or several, freed when its owner goes away. Needs less than 1 MiB of memory.
@safe
package struct GzipReader: ~Copyable {
  private let raw: OpaquePointer
  private let feed: FileFeed
  private let isEmpty: Bool

  /// - Parameter read: fills the buffer with the next bytes of the stream, and returns their number: 0 only at the end.
  package init(_ read: @escaping (_ buffer: inout MutableSpan<UInt8>) throws(PackError) -> Int) throws(PackError) {
    guard let raw = unsafe archive_read_new() else {
      throw PackError(.internalError, "libarchive could not allocate a reader")
    }
    let feed = FileFeed(size: .max, limit: nil) { (_, buffer) throws(PackError) in try read(&buffer) }
    let client = unsafe Unmanaged.passUnretained(feed).toOpaque()
    let isOpen =
      unsafe archive_read_support_filter_gzip(raw) == ARCHIVE_OK && archive_read_support_format_raw(raw) == ARCHIVE_OK
      // An empty stream has no entry, and is not an error.
      && archive_read_support_format_empty(raw) == ARCHIVE_OK
      && archive_read_open2(raw, client, nil, { unsafe FileFeed.deliver($1, $2) }, nil, nil) == ARCHIVE_OK
    var entry: OpaquePointer?
    let status = isOpen ? unsafe archive_read_next_header(raw, &entry) : ARCHIVE_FATAL
    guard status == ARCHIVE_OK || status == ARCHIVE_EOF else {
      let failure = unsafe feed.failure ?? Self.failure(raw)
      unsafe archive_read_free(raw)
      throw failure
    }
    unsafe self.raw = raw
    self.feed = feed
    isEmpty = status == ARCHIVE_EOF
  }

  deinit {
    unsafe archive_read_free(raw)
  }

  /// Reads the next bytes of what was compressed, and returns their number: 0 at the end. Checksums are not compared, because libarchive does not.
  ///
  /// - Throws: ``PackError/Code/damagedArchive`` if the stream is damaged or cut, and the errors of what reads it.
  package func read(into buffer: inout MutableSpan<UInt8>) throws(PackError) -> Int {
    guard !buffer.isEmpty, !isEmpty else { return 0 }
    let count = try unsafe feed.content(of: raw, into: &buffer)
    guard count >= 0 else { throw unsafe Self.failure(raw) }
    return count
  }

  private static func failure(_ raw: OpaquePointer) -> PackError {
    let reason = unsafe archive_error_string(raw).map { unsafe String(cString: $0) }
    return PackError(.damagedArchive, "is damaged or cut: \(reason ?? "no reason given")")
  }
}
