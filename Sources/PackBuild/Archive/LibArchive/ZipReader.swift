import CLibArchive

/// A libarchive zip reader over a file, freed when its owner goes away.
///
/// It reads the directory at the end of the archive, and then only the content that is requested. Needs memory for the directory, at most
/// ``largestDirectory`` as stored, and otherwise less than 1 MiB.
@safe
package struct ZipReader: ~Copyable {
  private let raw: OpaquePointer
  private let feed: FileFeed

  /// The largest directory that is read, in bytes: that of about half a million files.
  package static let largestDirectory: UInt64 = 64 << 20

  /// - Parameters:
  ///   - size: the size of the archive in bytes.
  ///   - read: fills the buffer with the bytes at an offset, and returns their number: fewer only at the end.
  package init(
    size: UInt64, _ read: @escaping (_ offset: UInt64, _ buffer: inout MutableSpan<UInt8>) throws(PackError) -> Int
  ) throws(PackError) {
    guard let raw = unsafe archive_read_new() else {
      throw PackError(.internalError, "libarchive could not allocate a reader")
    }
    let feed = FileFeed(size: size, limit: Self.largestDirectory, read)
    let client = unsafe Unmanaged.passUnretained(feed).toOpaque()
    let opened =
      unsafe archive_read_support_format_zip_seekable(raw) == ARCHIVE_OK
      && archive_read_set_read_callback(raw) { unsafe FileFeed.deliver($1, $2) } == ARCHIVE_OK
      && archive_read_set_seek_callback(raw) { unsafe seek($1, $2, $3) } == ARCHIVE_OK
      && archive_read_set_callback_data(raw, client) == ARCHIVE_OK && archive_read_open1(raw) == ARCHIVE_OK
    guard opened else {
      let failure = unsafe feed.failure ?? Self.failure(raw)
      unsafe archive_read_free(raw)
      throw failure
    }
    unsafe self.raw = raw
    self.feed = feed
  }

  deinit {
    unsafe archive_read_free(raw)
  }

  /// Returns the next entry, or nil after the last one. The content of the one before need not have been read.
  ///
  /// - Throws: ``PackError/Code/damagedArchive`` if the archive is no zip, is cut or damaged, or has too large a directory.
  package func next() throws(PackError) -> ZipEntry? {
    var entry: OpaquePointer?
    let (status, found) = UTF8Locale.run { () -> (CInt, ZipEntry?) in
      let status = unsafe archive_read_next_header(raw, &entry)
      // A warning is about a name, or about a copy of a value that is not used.
      guard status == ARCHIVE_OK || status == ARCHIVE_WARN, let entry = unsafe entry else { return (status, nil) }
      let type = unsafe archive_entry_filetype(entry)
      let kind: ZipEntry.Kind =
        switch UInt32(type) {
        case UInt32(packer_AE_IFREG): .file
        case UInt32(packer_AE_IFDIR): .directory
        case UInt32(packer_AE_IFLNK): .symbolicLink
        default: .other
        }
      let found = unsafe ZipEntry(
        path: ReadHandle.path(entry), kind: kind, linkTarget: archive_entry_symlink_utf8(entry).map { unsafe String(cString: $0) },
        size: UInt64(max(0, archive_entry_size(entry))), isEncrypted: archive_entry_is_encrypted(entry) != 0)
      return (status, found)
    }
    // Now the directory has been read.
    feed.lift()
    if let failure = feed.failure { throw failure }
    if status == ARCHIVE_EOF { return nil }
    guard let found else { throw unsafe Self.failure(raw) }
    return found
  }

  /// Reads the next bytes of the content of the last entry, and returns their number: 0 at its end, where its checksum is correct.
  package func read(into buffer: inout MutableSpan<UInt8>) throws(PackError) -> Int {
    guard !buffer.isEmpty else { return 0 }
    let count = try unsafe feed.content(of: raw, into: &buffer)
    guard count >= 0 else { throw unsafe Self.failure(raw) }
    return count
  }

  private static func failure(_ raw: OpaquePointer) -> PackError {
    let reason = unsafe archive_error_string(raw).map { unsafe String(cString: $0) }
    // What libarchive says if it finds no directory.
    guard let reason, reason != "Unrecognized archive format" else {
      return PackError(.damagedArchive, "is not a zip archive, or is cut: no directory is at its end")
    }
    return PackError(.damagedArchive, "is damaged: \(reason)")
  }
}

/// The bytes of a file for a reader, which may seek.
@safe
final class FileFeed {
  private let size: UInt64
  private let read: (UInt64, inout MutableSpan<UInt8>) throws(PackError) -> Int
  private var position: UInt64 = 0
  /// How much may be read until ``lift()`` is called, in bytes.
  private var left: UInt64?
  private let piece: UnsafeMutablePointer<UInt8>
  private(set) var failure: PackError?

  /// Small, because the reader of a zip seeks to the start of each entry and needs few bytes there.
  private static let pieceSize = 32 << 10
  // SEEK_CUR and SEEK_END of <stdio.h>, which have the same values on all systems.
  private static let fromHere: CInt = 1
  private static let fromEnd: CInt = 2

  /// Reads the next bytes of what a reader with this feed has found.
  ///
  /// - Returns: their number: 0 at the end, and less than 0 if the archive is damaged.
  /// - Throws: the errors of what reads the file.
  func content(of raw: OpaquePointer, into buffer: inout MutableSpan<UInt8>) throws(PackError) -> Int {
    let count = unsafe buffer.withUnsafeMutableBytes { unsafe archive_read_data(raw, $0.baseAddress, $0.count) }
    if let failure { throw failure }
    return count
  }

  init(size: UInt64, limit: UInt64?, _ read: @escaping (UInt64, inout MutableSpan<UInt8>) throws(PackError) -> Int) {
    self.size = size
    self.read = read
    left = limit
    unsafe piece = .allocate(capacity: Self.pieceSize)
  }

  deinit {
    unsafe piece.deallocate()
  }

  func lift() { left = nil }

  /// Returns the address and length of the next bytes. The length is 0 at the end, and -1 after a failure.
  func advance() -> (UnsafeRawPointer?, Int) {
    guard failure == nil else { return (nil, -1) }
    if let left {
      guard left >= UInt64(Self.pieceSize) else {
        failure = PackError(.damagedArchive, "has a directory of more than \(ByteCount(ZipReader.largestDirectory))")
        return (nil, -1)
      }
      self.left = left - UInt64(Self.pieceSize)
    }
    do throws(PackError) {
      var span = unsafe MutableSpan(_unsafeStart: piece, count: Self.pieceSize)
      let count = try read(position, &span)
      position += UInt64(count)
      return unsafe (UnsafeRawPointer(piece), count)
    } catch {
      failure = error
      return (nil, -1)
    }
  }

  /// Moves to an offset, and returns it. A negative number is a failure.
  func seek(_ offset: Int64, _ origin: CInt) -> Int64 {
    let base: Int64 =
      switch origin {
      case Self.fromHere: Int64(clamping: position)
      case Self.fromEnd: Int64(clamping: size)
      default: 0
      }
    let (target, overflow) = base.addingReportingOverflow(offset)
    guard !overflow, target >= 0 else { return Int64(ARCHIVE_FATAL) }
    position = UInt64(target)
    return target
  }
}

extension FileFeed {
  /// Hands the next bytes to libarchive.
  static func deliver(_ client: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UnsafeRawPointer?>?) -> Int {
    guard let client = unsafe client, let buffer = unsafe buffer else { return -1 }
    let (address, count) = unsafe Unmanaged<FileFeed>.fromOpaque(client).takeUnretainedValue().advance()
    unsafe buffer.pointee = address
    return count
  }
}

private func seek(_ client: UnsafeMutableRawPointer?, _ offset: Int64, _ origin: CInt) -> Int64 {
  guard let client = unsafe client else { return Int64(ARCHIVE_FATAL) }
  return unsafe Unmanaged<FileFeed>.fromOpaque(client).takeUnretainedValue().seek(offset, origin)
}
