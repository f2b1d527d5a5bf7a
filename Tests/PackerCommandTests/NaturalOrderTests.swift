import Testing

@testable import packer

@Suite("Details of an error")
struct NaturalOrderTests {
  @Test("are sorted in natural order")
  func order() {
    let lines = ["a.yml:9:1: x", "a.yml:12:1: x", "a.yml:12:10: x", "a.yml:100:2: x", "b", "b0", "b00", "b1", "ba"]

    #expect(lines.reversed().sorted(by: NaturalOrder.precedes) == lines)
  }

  @Test("are sorted even if numbers are longer than any integer")
  func longNumbers() {
    let small = "x" + String(repeating: "9", count: 40)
    let large = "x1" + String(repeating: "0", count: 40)

    #expect(NaturalOrder.precedes(small, large))
    #expect(!NaturalOrder.precedes(large, small))
    #expect(!NaturalOrder.precedes(large, large))
  }
}
