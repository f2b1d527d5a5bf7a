/// Consecutive bytes of a tar, and where they start in it.
package struct TarPiece: Hashable, Sendable {
  package let start: UInt64
  package let bytes: ArraySlice<UInt8>

  package init(start: UInt64, bytes: ArraySlice<UInt8>) {
    self.start = start
    self.bytes = bytes
  }
}
