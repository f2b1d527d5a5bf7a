// The standard library's own `Array.span` and `mutableSpan` exist from iOS 26 and macOS 26 on only, because they also cover arrays that are bridged
// from Objective-C. Arrays of bytes never are, so their storage can be borrowed on every system that has `Span` (iOS 12.2, macOS 10.14.4).
// The two accessors are made as the standard library makes its own: a span over the buffer's pointer, with its lifetime tied to the array.

extension Array where Element == UInt8 {
  /// The bytes of the array, borrowed: no copy, no allocation. The array cannot change while the span is in use.
  @inlinable
  package var byteSpan: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      let buffer = unsafe withUnsafeBufferPointer { (buffer) in unsafe buffer }
      return unsafe _overrideLifetime(Span(_unsafeElements: buffer), borrowing: self)
    }
  }

  /// The bytes of the array, to be changed in place. The array is made unique first, which copies it if it is shared.
  @inlinable
  package var mutableByteSpan: MutableSpan<UInt8> {
    @_lifetime(&self)
    mutating get {
      let buffer = unsafe withUnsafeMutableBufferPointer { (buffer) in unsafe buffer }
      return unsafe _overrideLifetime(MutableSpan(_unsafeElements: buffer), mutating: &self)
    }
  }
}

extension ArraySlice where Element == UInt8 {
  /// The bytes of the slice, borrowed: no copy, no allocation.
  @inlinable
  package var byteSpan: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      let buffer = unsafe withUnsafeBufferPointer { (buffer) in unsafe buffer }
      return unsafe _overrideLifetime(Span(_unsafeElements: buffer), borrowing: self)
    }
  }
}
