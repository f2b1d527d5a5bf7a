import CLibArchive

/// Writes tar headers with libarchive as a C program would: one writer, one entry that is reused, a callback for the output.
@safe
final class DirectTar {
  private let writer: OpaquePointer
  private let entry: OpaquePointer
  private let sink = ByteSink()

  init() throws(PackError) {
    guard let writer = unsafe archive_write_new(), let entry = unsafe archive_entry_new() else {
      throw PackError(.internalError, "libarchive could not allocate a writer")
    }
    unsafe self.writer = writer
    unsafe self.entry = entry
    unsafe archive_write_set_format_pax_restricted(writer)
    unsafe archive_write_set_bytes_per_block(writer, 0)
    let client = unsafe Unmanaged.passUnretained(sink).toOpaque()
    let opened = unsafe archive_write_open(
      writer, client, nil,
      { _, client, _, count in
        if let client = unsafe client { unsafe Unmanaged<ByteSink>.fromOpaque(client).takeUnretainedValue().count += count }
        return count
      }, nil)
    guard opened == ARCHIVE_OK else {
      throw PackError(.internalError, "libarchive could not open a tar writer")
    }
  }

  deinit {
    unsafe archive_write_fail(writer)
    unsafe archive_write_free(writer)
    unsafe archive_entry_free(entry)
  }

  /// Writes a file header for each path, and returns the number of bytes written.
  func write(_ paths: [String]) -> Int {
    sink.count = 0
    for path in paths {
      unsafe archive_entry_clear(entry)
      unsafe archive_entry_set_filetype(entry, UInt32(packer_AE_IFREG))
      unsafe archive_entry_set_perm(entry, 0o644)
      unsafe archive_entry_set_mtime(entry, 0, 0)
      unsafe archive_entry_set_size(entry, 0)
      unsafe archive_entry_set_pathname(entry, path)
      unsafe archive_write_header(writer, entry)
    }
    return sink.count
  }
}

private final class ByteSink {
  var count = 0
}
