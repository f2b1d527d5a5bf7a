import CLibArchive
import Glibc

/// A tar that one libarchive writer makes from beginning to end, contents included, as an ordinary program would.
struct WholeArchive {
  private(set) var bytes: [UInt8] = []

  /// - Parameter isEnded: whether the archive is closed. An archive that is not closed can have headers without their contents.
  init(_ entries: [(header: TarHeader, content: [UInt8])], isEnded: Bool = true) {
    let previous = uselocale(newlocale(LC_CTYPE_MASK, "C.UTF-8", nil))
    defer { _ = uselocale(previous) }
    let sink = Sink()
    let writer = archive_write_new()
    precondition(archive_write_set_format_pax_restricted(writer) == ARCHIVE_OK)
    precondition(archive_write_set_bytes_per_block(writer, 0) == ARCHIVE_OK)
    let client = Unmanaged.passUnretained(sink).toOpaque()
    let opened = archive_write_open(
      writer, client, nil,
      { _, client, buffer, count in
        let sink = Unmanaged<Sink>.fromOpaque(client!).takeUnretainedValue()
        sink.bytes.append(contentsOf: UnsafeRawBufferPointer(start: buffer, count: count))
        return count
      }, nil)
    precondition(opened == ARCHIVE_OK)
    for (header, content) in entries {
      let isDirectory = header.kind == .directory
      let entry = archive_entry_new()
      archive_entry_set_filetype(entry, UInt32(isDirectory ? packer_AE_IFDIR : packer_AE_IFREG))
      archive_entry_set_perm(entry, header.kind == .file ? 0o644 : 0o755)
      archive_entry_set_mtime(entry, 0, 0)
      archive_entry_set_size(entry, Int64(header.size))
      archive_entry_set_pathname_utf8(entry, isDirectory ? header.path + "/" : header.path)
      if let target = header.linkTarget { archive_entry_set_hardlink_utf8(entry, target) }
      precondition(archive_write_header(writer, entry) == ARCHIVE_OK)
      if !content.isEmpty { precondition(archive_write_data(writer, content, content.count) == content.count) }
      archive_entry_free(entry)
    }
    if isEnded {
      precondition(archive_write_close(writer) == ARCHIVE_OK)
    } else {
      // Otherwise freeing would write the missing part of the last content.
      bytes = sink.bytes
      archive_write_fail(writer)
    }
    archive_write_free(writer)
    if isEnded { bytes = sink.bytes }
  }

  private final class Sink {
    var bytes: [UInt8] = []
  }
}
