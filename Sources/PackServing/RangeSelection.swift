/// The bytes of a file that a `Range` field requests (RFC 9110 §14.1).
package enum RangeSelection: Equatable {
  /// The whole file: the field can be ignored.
  case whole
  /// These bytes, in the requested order; at least one range, none of them empty.
  case parts([Range<UInt64>])
  /// No bytes that the file has, or an invalid field.
  case unsatisfiable

  /// The maximum number of ranges in one request. No normal client asks for more; if a request does, the response is the whole file.
  package static let mostParts = 16

  /// Parses the value of a `Range` field.
  ///
  /// The RFC leaves open how to treat an invalid field, overlapping ranges and several ranges. This follows nginx: an invalid field is not
  /// satisfiable; ranges that together are larger than the file are ignored; an empty file is returned whole if a range starts at its first byte. As
  /// the RFC requires, and unlike nginx, numbers may be of any size and elements of the list may be empty.
  package init(_ value: String, size: UInt64) {
    let bytes = Array(value.utf8)
    let unit = Array("bytes=".utf8)
    // Units are case-insensitive (RFC 9110 §14.1).
    guard bytes.count > unit.count, zip(bytes, unit).allSatisfy({ lowered($0) == $1 }) else {
      self = .whole
      return
    }
    var parts: [Range<UInt64>] = []
    var total: UInt64 = 0
    var elements = 0
    for element in bytes[unit.count...].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      guard let element = Self.trimmed(element) else { continue }
      elements += 1
      guard let range = Self.range(element, size: size) else {
        self = .unsatisfiable
        return
      }
      guard !range.isEmpty else {
        guard range.lowerBound > 0 else {
          self = .whole
          return
        }
        continue
      }
      let (sum, overflows) = total.addingReportingOverflow(range.upperBound - range.lowerBound)
      guard parts.count < Self.mostParts, !overflows else {
        self = .whole
        return
      }
      total = sum
      parts.append(range)
    }
    self = parts.isEmpty ? .unsatisfiable : total > size ? .whole : .parts(parts)
  }

  /// Returns the bytes that one element of the list requests: an empty range if the file has none of them, nil if the element is invalid.
  private static func range(_ element: ArraySlice<UInt8>, size: UInt64) -> Range<UInt64>? {
    guard let dash = element.firstIndex(of: UInt8(ascii: "-")) else { return nil }
    let first = element[..<dash]
    let last = element[(dash + 1)...]
    if first.isEmpty {
      guard let count = number(last) else { return nil }
      return size - min(count, size)..<size
    }
    // The grammar does not allow spaces around the dash, but nginx accepts them.
    guard let first = trimmed(first), let start = number(first) else { return nil }
    var end = size
    if let last = trimmed(last) {
      guard let last = number(last) else { return nil }
      if last < size { end = last + 1 }
    }
    return start < end ? start..<end : start..<start
  }

  /// Parses a number. Returns the largest number if the value does not fit, and nil if it is not a number.
  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
    guard !digits.isEmpty else { return nil }
    var number: UInt64 = 0
    var isTooLarge = false
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      let (tens, overflows) = number.multipliedReportingOverflow(by: 10)
      let (sum, carries) = tens.addingReportingOverflow(UInt64(digit - UInt8(ascii: "0")))
      isTooLarge = isTooLarge || overflows || carries
      number = sum
    }
    return isTooLarge ? .max : number
  }

  /// Returns an element without surrounding white space. Returns nil if nothing remains.
  private static func trimmed(_ element: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    let front = element.drop(while: isSpace)
    guard let end = front.lastIndex(where: { !isSpace($0) }) else { return nil }
    return front[...end]
  }
}
