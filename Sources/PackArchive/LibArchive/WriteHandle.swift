import CLibArchive
import PackFormat

/// A libarchive tar writer into memory, freed when its owner goes away.
@safe
struct WriteHandle: ~Copyable {
  private let raw: OpaquePointer
  private let entry: OpaquePointer
  private let sink: HeaderSink

  init() throws(PackError) {
    guard let raw = unsafe archive_write_new() else {
      throw PackError(.internalError, "libarchive could not allocate a writer")
    }
    guard let entry = unsafe archive_entry_new() else {
      unsafe archive_write_free(raw)
      throw PackError(.internalError, "libarchive could not allocate an entry")
    }
    let sink = HeaderSink()
    let client = unsafe Unmanaged.passUnretained(sink).toOpaque()
    // Blocks of 0 bytes: nothing is held back, so that a header is complete when its call returns.
    let opened =
      unsafe archive_write_set_format_pax_restricted(raw) == ARCHIVE_OK
      && archive_write_set_bytes_per_block(raw, 0) == ARCHIVE_OK
      && archive_write_open(raw, client, nil, { unsafe receive($1, $2, $3) }, nil) == ARCHIVE_OK
    guard opened else {
      unsafe archive_entry_free(entry)
      unsafe archive_write_free(raw)
      throw PackError(.internalError, "libarchive could not open a tar writer")
    }
    unsafe self.raw = raw
    unsafe self.entry = entry
    self.sink = sink
  }

  deinit {
    // Without this, freeing would write the whole content of the last entry as zeros.
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
    // What the last entry still owes in zeros goes nowhere.
    sink.begin(capturing: false)
    let finished = unsafe archive_write_finish_entry(raw)
    sink.begin(capturing: true)
    let status = UTF8Locale.run {
      unsafe archive_entry_set_pathname_utf8(entry, isDirectory ? header.path + "/" : header.path)
      if let target = header.linkTarget { unsafe archive_entry_set_hardlink_utf8(entry, target) }
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

/// Where a writer's bytes arrive.
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
