/// The whole content of a file that is never changed in place: an array, or pages of the system that are the file.
///
/// Mapped pages that are only read do not count as memory of the process, which the system limits.
@safe
package struct FileContent: Sendable {
  private let place: Place

  @safe
  private enum Place: @unchecked Sendable {
    case array([UInt8])
    case pages(UnsafeBufferPointer<UInt8>, owner: any Sendable)
  }

  package init(_ bytes: [UInt8]) { place = .array(bytes) }

  /// - Parameter owner: keeps the pages mapped as long as it exists.
  @unsafe
  package init(_ pages: UnsafeBufferPointer<UInt8>, owner: any Sendable) { unsafe place = .pages(pages, owner: owner) }

  /// A copy of the bytes, unless they are an array already.
  package var bytes: [UInt8] {
    switch place {
    case .array(let bytes): bytes
    case .pages: [UInt8](copying: byteSpan)
    }
  }

  /// The bytes, borrowed: no copy, no allocation.
  package var byteSpan: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      let buffer =
        switch place {
        case .array(let bytes): unsafe bytes.withUnsafeBufferPointer { (buffer) in unsafe buffer }
        case .pages(let pages, _): unsafe pages
        }
      return unsafe _overrideLifetime(Span(_unsafeElements: buffer), borrowing: self)
    }
  }
}

extension FileContent: Hashable {
  package static func == (left: FileContent, right: FileContent) -> Bool { equal(left.byteSpan, right.byteSpan) }

  package func hash(into hasher: inout Hasher) {
    let bytes = byteSpan
    unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }
}
