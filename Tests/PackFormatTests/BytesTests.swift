import TestSupport
import Testing

@Suite("Bytes")
struct BytesTests {
  @Test("are equal only if every byte is, at any length", arguments: 0...40)
  func equality(count: Int) {
    var random = SeededGenerator(seed: UInt64(count))
    let bytes = random.bytes(count)
    let same = equal(bytes.byteSpan, bytes.byteSpan)
    #expect(same)
    let longer = bytes + [0]
    let isLongerEqual = equal(bytes.byteSpan, longer.byteSpan) || equal(longer.byteSpan, bytes.byteSpan)
    #expect(!isLongerEqual)
    for index in 0..<count {
      var changed = bytes
      changed[index] ^= 0x80
      let isChangedEqual = equal(bytes.byteSpan, changed.byteSpan)
      #expect(!isChangedEqual, "byte \(index)")
    }
  }

  @Test("other than zero are found at the first position, at any length", arguments: 0...40)
  func nonzero(count: Int) {
    let zeros = [UInt8](repeating: 0, count: count)
    let none = firstNonzero(in: zeros.byteSpan)
    #expect(none == nil)
    for index in 0..<count {
      var bytes = zeros
      bytes[index] = 1
      bytes[count - 1] |= 0x80
      let found = firstNonzero(in: bytes.byteSpan)
      #expect(found == index)
    }
  }
}
