/// The sort order that people expect of text with numbers: line 9 of a file before line 12.
enum NaturalOrder {
  static func precedes(_ left: String, _ right: String) -> Bool {
    var (left, right) = (left.utf8[...], right.utf8[...])
    while let first = left.first, let second = right.first {
      let (number, other) = (left.prefix(while: isDigit), right.prefix(while: isDigit))
      if !number.isEmpty, !other.isEmpty {
        let (value, otherValue) = (number.drop { $0 == 0x30 }, other.drop { $0 == 0x30 })
        if value.count != otherValue.count { return value.count < otherValue.count }
        if !value.elementsEqual(otherValue) { return value.lexicographicallyPrecedes(otherValue) }
        if number.count != other.count { return number.count < other.count }
        left = left.dropFirst(number.count)
        right = right.dropFirst(other.count)
      } else {
        if first != second { return first < second }
        left.removeFirst()
        right.removeFirst()
      }
    }
    return left.isEmpty && !right.isEmpty
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
