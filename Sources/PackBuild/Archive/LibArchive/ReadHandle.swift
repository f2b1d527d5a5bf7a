import CLibArchive

/// A libarchive tar reader over the pieces of a tar, freed when its owner goes away.
@safe
struct ReadHandle: ~Copyable {
  private let raw: OpaquePointer
  private let feed: PieceFeed

  /// - Parameter next: returns the next piece of the tar, or nil at its end.
  init(_ next: @escaping () throws(PackError) -> TarPiece?) throws(PackError) {
    guard let raw = unsafe archive_read_new() else {
      throw PackError(.internalError, "libarchive could not allocate a reader")
    }
    let feed = PieceFeed(next)
    let client = unsafe Unmanaged.passUnretained(feed).toOpaque()
    let opened =
      unsafe archive_read_support_format_tar(raw) == ARCHIVE_OK
      && archive_read_open2(raw, client, nil, { unsafe deliver($1, $2) }, { unsafe pass($1, $2) }, nil) == ARCHIVE_OK
    guard opened else {
      let failure = unsafe feed.failure ?? Self.failure(raw, "the payload is not a tar")
      unsafe archive_read_free(raw)
      throw failure
    }
    unsafe self.raw = raw
    self.feed = feed
  }

  deinit {
    unsafe archive_read_free(raw)
  }

  /// Returns the next entry, or nil at the end of the tar.
  func next() throws(PackError) -> TarEntry? {
    var entry: OpaquePointer?
    let (status, found) = UTF8Locale.run { () -> (CInt, TarEntry?) in
      let status = unsafe archive_read_next_header(raw, &entry)
      guard status == ARCHIVE_OK, let entry = unsafe entry else { return (status, nil) }
      let type = unsafe archive_entry_filetype(entry)
      // libarchive reports no type for a hard link, which has the type of its target.
      let isLink = unsafe archive_entry_hardlink(entry) != nil
      let found = unsafe TarEntry(
        path: Self.path(entry),
        linkTarget: archive_entry_hardlink_utf8(entry).map { unsafe String(cString: $0) },
        isFile: type == UInt32(packer_AE_IFREG) || isLink && type == 0,
        isDirectory: type == UInt32(packer_AE_IFDIR),
        permissions: UInt32(archive_entry_perm(entry)),
        size: UInt64(max(0, archive_entry_size(entry))),
        start: UInt64(max(0, archive_read_header_position(raw))),
        dataOffset: UInt64(max(0, archive_filter_bytes(raw, 0))))
      return (status, found)
    }
    if let failure = feed.failure { throw failure }
    if status == ARCHIVE_EOF { return nil }
    guard let found else { throw unsafe Self.failure(raw, "libarchive cannot read the tar") }
    return found
  }

  /// Returns the path of an entry, or nil if it is not UTF-8.
  static func path(_ entry: OpaquePointer) -> String? {
    // libarchive keeps paths in the locale's encoding and would convert them to UTF-8. ASCII is the same in both.
    if let path = unsafe archive_entry_pathname(entry).map({ unsafe String(cString: $0) }), path.withBytes({ isASCII($0) }) {
      return path
    }
    return unsafe archive_entry_pathname_utf8(entry).map { unsafe String(cString: $0) }
  }

  private static func failure(_ raw: OpaquePointer, _ what: String) -> PackError {
    let reason = unsafe archive_error_string(raw).map { unsafe String(cString: $0) }
    return PackError(.damagedArchive, "\(what): \(reason ?? "no reason given")")
  }
}

/// The pieces of a tar for a reader. libarchive may use a piece until it requests the next one.
@safe
private final class PieceFeed {
  private let next: () throws(PackError) -> TarPiece?
  private var piece: UnsafeMutableRawBufferPointer?
  /// The next piece, if it was already requested to find out where it starts.
  private var upcoming: TarPiece?
  /// The position in the tar after all bytes that were delivered or skipped.
  private var position: UInt64 = 0
  private(set) var failure: PackError?

  init(_ next: @escaping () throws(PackError) -> TarPiece?) {
    self.next = next
  }

  deinit {
    unsafe piece?.deallocate()
  }

  /// Returns the address and length of the next piece. The length is 0 at the end, and -1 after a failure.
  func advance() -> (UnsafeRawPointer?, Int) {
    guard failure == nil else { return (nil, -1) }
    do throws(PackError) {
      guard let given = try look() else { return (nil, 0) }
      guard given.start == position else {
        throw PackError(.damagedArchive, "the tar headers need the bytes at \(position), which are file content according to the index")
      }
      upcoming = nil
      position += UInt64(given.bytes.count)
      if unsafe piece?.count ?? 0 < given.bytes.count {
        unsafe piece?.deallocate()
        unsafe piece = .allocate(byteCount: given.bytes.count, alignment: 16)
      }
      unsafe piece?.copyBytes(from: given.bytes)
      return unsafe (UnsafeRawPointer(piece?.baseAddress), given.bytes.count)
    } catch {
      failure = error
      return (nil, -1)
    }
  }

  /// Skips at most `count` bytes that are left out of the pieces, and returns their number: 0 if the next piece starts here.
  func pass(_ count: Int64) -> Int64 {
    guard failure == nil else { return 0 }
    do throws(PackError) {
      guard count > 0, let given = try look(), given.start > position else { return 0 }
      let passed = min(UInt64(count), given.start - position)
      position += passed
      return Int64(passed)
    } catch {
      failure = error
      return 0
    }
  }

  private func look() throws(PackError) -> TarPiece? {
    if upcoming == nil { upcoming = try next() }
    return upcoming
  }
}

private func deliver(
  _ client: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> Int {
  guard let client = unsafe client, let buffer = unsafe buffer else { return -1 }
  let (address, count) = unsafe Unmanaged<PieceFeed>.fromOpaque(client).takeUnretainedValue().advance()
  unsafe buffer.pointee = address
  return count
}

private func pass(_ client: UnsafeMutableRawPointer?, _ count: Int64) -> Int64 {
  guard let client = unsafe client else { return 0 }
  return unsafe Unmanaged<PieceFeed>.fromOpaque(client).takeUnretainedValue().pass(count)
}
