import CLibArchive

/// A libarchive zip writer, freed when its owner goes away.
///
/// Equal files in equal order give equal bytes: entries have no times and owners, and all are readable and not executable.
@safe
package struct ZipWriter: ~Copyable {
  private let raw: OpaquePointer
  private let sink: ByteSink

  /// - Parameter write: takes the next bytes of the archive.
  package init(_ write: @escaping (Span<UInt8>) throws(PackError) -> Void) throws(PackError) {
    guard let raw = unsafe archive_write_new() else {
      throw PackError(.internalError, "libarchive could not allocate a writer")
    }
    let sink = ByteSink(write)
    let client = unsafe Unmanaged.passUnretained(sink).toOpaque()
    let opened =
      unsafe archive_write_set_format_zip(raw) == ARCHIVE_OK
      // Otherwise libarchive fills the last block with zeros.
      && archive_write_set_bytes_in_last_block(raw, 1) == ARCHIVE_OK
      && archive_write_open(raw, client, nil, { unsafe take($1, $2, $3) }, nil) == ARCHIVE_OK
    guard opened else {
      let failure = unsafe Self.failure(raw, sink)
      unsafe archive_write_free(raw)
      throw failure
    }
    unsafe self.raw = raw
    self.sink = sink
  }

  deinit {
    unsafe archive_write_free(raw)
  }

  /// Starts a file. Its content follows with ``write(_:)``, exactly `size` bytes.
  package func begin(_ path: String, size: UInt64) throws(PackError) {
    guard let entry = unsafe archive_entry_new() else {
      throw PackError(.internalError, "libarchive could not allocate an entry")
    }
    defer { unsafe archive_entry_free(entry) }
    let status = UTF8Locale.run { () -> CInt in
      unsafe archive_entry_set_pathname_utf8(entry, path)
      unsafe archive_entry_set_filetype(entry, UInt32(packer_AE_IFREG))
      unsafe archive_entry_set_perm(entry, 0o644)
      unsafe archive_entry_set_size(entry, Int64(clamping: size))
      return unsafe archive_write_header(raw, entry)
    }
    guard status == ARCHIVE_OK else { throw unsafe Self.failure(raw, sink) }
  }

  /// Writes the next bytes of the file.
  package func write(_ bytes: Span<UInt8>) throws(PackError) {
    let count = unsafe bytes.withUnsafeBytes { unsafe archive_write_data(raw, $0.baseAddress, $0.count) }
    guard count == bytes.count else { throw unsafe Self.failure(raw, sink) }
  }

  /// Writes the directory at the end of the archive.
  package func finish() throws(PackError) {
    guard unsafe archive_write_close(raw) == ARCHIVE_OK else { throw unsafe Self.failure(raw, sink) }
  }

  private static func failure(_ raw: OpaquePointer, _ sink: ByteSink) -> PackError {
    if let failure = sink.failure { return failure }
    let reason = unsafe archive_error_string(raw).map { unsafe String(cString: $0) }
    return PackError(.internalError, "libarchive cannot write the zip: \(reason ?? "no reason given")")
  }
}

/// Where a writer puts its bytes.
@safe
private final class ByteSink {
  private let write: (Span<UInt8>) throws(PackError) -> Void
  private(set) var failure: PackError?

  init(_ write: @escaping (Span<UInt8>) throws(PackError) -> Void) { self.write = write }

  /// Returns whether the bytes were written.
  func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard failure == nil else { return false }
    do throws(PackError) {
      try write(unsafe Span<UInt8>(_unsafeBytes: bytes))
      return true
    } catch {
      failure = error
      return false
    }
  }
}

private func take(_ client: UnsafeMutableRawPointer?, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  guard let client = unsafe client, let bytes = unsafe bytes else { return -1 }
  let sink = unsafe Unmanaged<ByteSink>.fromOpaque(client).takeUnretainedValue()
  return unsafe sink.take(UnsafeRawBufferPointer(start: bytes, count: count)) ? count : -1
}
