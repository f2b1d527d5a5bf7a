/// Which bytes of a file a `Range` field asks for (RFC 9110 §14.1).
package enum RangeSelection: Equatable {
  /// All of it: the field says nothing that has to be followed.
  case whole
  /// These bytes, in the order in which they were asked for; at least one range, none of them empty.
  case parts([Range<UInt64>])
  /// None that the file has, or none that can be read out of the field.
  case unsatisfiable

  /// The most ranges of one request. Nobody who means well asks for more; whoever does, gets the whole file.
  package static let mostParts = 16

  /// Reads the value of a `Range` field.
  ///
  /// The RFC leaves open what follows on a field that is wrong, on ranges that overlap and on several of them. All of that is as in nginx: what is wrong is
  /// not satisfiable; ranges that are larger together than the file are passed over; an empty file is handed out whole where a range starts with
  /// its first byte. As the RFC asks, and unlike nginx, numbers may be as large as they like and elements of the list may be empty.
  package init(_ value: String, size: UInt64) {
    let bytes = Array(value.utf8)
    let unit = Array("bytes=".utf8)
    // Units are compared without regard to case (RFC 9110 §14.1).
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

  /// The bytes of a file that one element of the list asks for: empty where it asks for none that there are, nil where it is not of the grammar.
  private static func range(_ element: ArraySlice<UInt8>, size: UInt64) -> Range<UInt64>? {
    guard let dash = element.firstIndex(of: UInt8(ascii: "-")) else { return nil }
    let first = element[..<dash]
    let last = element[(dash + 1)...]
    if first.isEmpty {
      guard let count = number(last) else { return nil }
      return size - min(count, size)..<size
    }
    // Spaces around the dash are not of the grammar, but nginx takes them.
    guard let first = trimmed(first), let start = number(first) else { return nil }
    var end = size
    if let last = trimmed(last) {
      guard let last = number(last) else { return nil }
      if last < size { end = last + 1 }
    }
    return start < end ? start..<end : start..<start
  }

  /// A number, or the largest one where it is larger; nil where it is none.
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

  /// An element without the white space around it, nil where nothing remains.
  private static func trimmed(_ element: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    let front = element.drop(while: isSpace)
    guard let end = front.lastIndex(where: { !isSpace($0) }) else { return nil }
    return front[...end]
  }
}
