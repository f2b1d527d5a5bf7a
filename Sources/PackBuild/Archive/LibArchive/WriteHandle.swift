import CLibArchive

/// A libarchive tar writer into memory, freed when its owner goes away.
@safe
struct WriteHandle: ~Copyable {
  /// The form of the headers that a writer makes.
  enum Format {
    /// A pax header and a block, or only the block if the entry needs no pax header. libarchive takes 1.6 µs for such a block.
    case pax
    /// Only the block: the same one that ``pax`` makes for an entry that needs no pax header. libarchive takes 0.3 µs for it.
    case ustar
  }

  private let format: Format
  private let raw: OpaquePointer
  private let entry: OpaquePointer
  private let sink: HeaderSink

  init(_ format: Format) throws(PackError) {
    guard let raw = unsafe archive_write_new() else {
      throw PackError(.internalError, "libarchive could not allocate a writer")
    }
    guard let entry = unsafe archive_entry_new() else {
      unsafe archive_write_free(raw)
      throw PackError(.internalError, "libarchive could not allocate an entry")
    }
    let sink = HeaderSink()
    let client = unsafe Unmanaged.passUnretained(sink).toOpaque()
    let chosen =
      switch format {
      case .pax: unsafe archive_write_set_format_pax_restricted(raw)
      case .ustar: unsafe archive_write_set_format_ustar(raw)
      }
    // With blocks of 0 bytes nothing is buffered, so a header is complete when its call returns.
    let opened =
      unsafe chosen == ARCHIVE_OK && archive_write_set_bytes_per_block(raw, 0) == ARCHIVE_OK
      && archive_write_open(raw, client, nil, { unsafe receive($1, $2, $3) }, nil) == ARCHIVE_OK
    guard opened else {
      unsafe archive_entry_free(entry)
      unsafe archive_write_free(raw)
      throw PackError(.internalError, "libarchive could not open a tar writer")
    }
    self.format = format
    unsafe self.raw = raw
    unsafe self.entry = entry
    self.sink = sink
  }

  deinit {
    // Otherwise freeing would write the whole content of the last entry as zeros.
    unsafe archive_write_fail(raw)
    unsafe archive_write_free(raw)
    unsafe archive_entry_free(entry)
  }

  /// Appends the header of an entry to `bytes`.
  func writeHeader(_ header: TarHeader, to bytes: inout [UInt8]) throws(PackError) {
    unsafe archive_entry_clear(entry)
    let isDirectory = header.kind == .directory
    unsafe archive_entry_set_filetype(entry, UInt32(isDirectory ? packer_AE_IFDIR : packer_AE_IFREG))
    unsafe archive_entry_set_perm(entry, mode_t(header.kind == .file ? 0o644 : 0o755))
    unsafe archive_entry_set_mtime(entry, 0, 0)
    unsafe archive_entry_set_uid(entry, 0)
    unsafe archive_entry_set_gid(entry, 0)
    unsafe archive_entry_set_size(entry, Int64(header.size))
    // The zeros that libarchive writes in place of the last entry's content are discarded.
    sink.begin(capturing: false)
    let finished = unsafe archive_write_finish_entry(raw)
    sink.begin(capturing: true)
    let status = UTF8Locale.run {
      let path = isDirectory ? header.path + "/" : header.path
      switch format {
      case .pax:
        unsafe archive_entry_set_pathname_utf8(entry, path)
        if let target = header.linkTarget { unsafe archive_entry_set_hardlink_utf8(entry, target) }
      case .ustar:
        // Set in the encoding of the locale. libarchive would convert UTF-8 to it first.
        unsafe archive_entry_set_pathname(entry, path)
        if let target = header.linkTarget { unsafe archive_entry_set_hardlink(entry, target) }
      }
      return unsafe archive_write_header(raw, entry)
    }
    guard finished == ARCHIVE_OK, status == ARCHIVE_OK, sink.count > 0, sink.count % 512 == 0 else {
      let reason = unsafe archive_error_string(raw).map { unsafe String(cString: $0) }
      throw PackError(
        .internalError, "libarchive could not write the header of '\(header.path)': \(reason ?? "no reason given")")
    }
    sink.take(into: &bytes)
  }
}

/// The receiver of a writer's bytes.
private final class HeaderSink {
  private var bytes: [UInt8] = []
  private var isCapturing = false

  var count: Int { bytes.count }

  func begin(capturing: Bool) {
    isCapturing = capturing
  }

  func append(_ buffer: UnsafeRawBufferPointer) {
    if isCapturing { unsafe bytes.append(contentsOf: buffer) }
  }

  func take(into other: inout [UInt8]) {
    other += bytes
    bytes.removeAll(keepingCapacity: true)
  }
}

private func receive(
  _ client: UnsafeMutableRawPointer?, _ buffer: UnsafeRawPointer?, _ count: Int
) -> Int {
  guard let client = unsafe client else { return -1 }
  let sink = unsafe Unmanaged<HeaderSink>.fromOpaque(client).takeUnretainedValue()
  unsafe sink.append(UnsafeRawBufferPointer(start: buffer, count: count))
  return count
}
