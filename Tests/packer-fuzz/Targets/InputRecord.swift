/// The form of a record in an input: path length, type, size, offset and path, so that a change of any byte gives another record.
extension IndexRecord {
  /// The length of a record before its path, in bytes.
  static let inputSize = 19

  /// Appends the record as it is in an input.
  func appendAsInput(to bytes: inout [UInt8]) {
    bytes.append(littleEndian: UInt16(path.count))
    bytes.append(kind.rawValue)
    bytes.append(littleEndian: size)
    bytes.append(littleEndian: offset)
    bytes += path
  }
}
