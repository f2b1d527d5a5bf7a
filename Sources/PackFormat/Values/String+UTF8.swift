extension String {
  /// Creates a text from UTF-8. Returns nil if the bytes are not valid UTF-8.
  ///
  /// `String(validating:as:)` does the same, but exists only from iOS 18 and macOS 15 on.
  package init?(validUTF8 bytes: some Collection<UInt8>) {
    self.init(decoding: bytes, as: UTF8.self)
    // Decoding replaces what is invalid by a character that has other bytes.
    let isUnchanged = unsafe utf8.withContiguousStorageIfAvailable { text in
      bytes.withContiguousStorageIfAvailable { unsafe equal(Span(_unsafeElements: text), Span(_unsafeElements: $0)) }
    }
    guard (isUnchanged ?? nil) ?? utf8.elementsEqual(bytes) else { return nil }
  }
}
