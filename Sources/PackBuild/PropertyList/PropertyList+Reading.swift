extension PropertyList {
  /// Reads a property list, in XML or binary form.
  ///
  /// - Parameter path: the path of the file, for messages.
  /// - Throws: ``PackError/Code/malformedPlist``.
  package init(parsing bytes: [UInt8], path: String) throws(PackError) {
    guard bytes.count <= Self.largestSize else {
      throw PackError(.malformedPlist, "\(path) is \(bytes.count) bytes, more than the \(Self.largestSize) allowed for a property list")
    }
    switch Form(of: bytes) {
    case .xml:
      try Self.checkText(bytes, path: path)
      self = try XMLMarkup(bytes, path: path).propertyList
    case .binary:
      guard let outline = BinaryOutline(bytes) else { throw Self.damagedBinary(path) }
      self = try outline.propertyList(path: path)
    }
  }

  /// Throws if the bytes cannot be XML in UTF-8.
  private static func checkText(_ bytes: [UInt8], path: String) throws(PackError) {
    let convert = "plutil -convert xml1 \(ShellWord.path(path))"
    guard !bytes.contains(0) else {
      throw PackError(.malformedPlist, "\(path) is in UTF-16 or has zero bytes, but only UTF-8 is supported", hint: convert)
    }
    if let conflict = MergeConflict(bytes) {
      throw PackError(
        .malformedPlist, "\(path):\(conflict.line): a merge left conflict markers: \(conflict.names.ours) and \(conflict.names.theirs)",
        hint: "keep what is right of both sides, without the markers")
    }
    let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    guard text.first(where: { $0 > 0x20 }) == UInt8(ascii: "<") else {
      throw PackError(.malformedPlist, "\(path) is neither an XML nor a binary property list", hint: convert)
    }
  }

  /// The years 1583 to 9999, in seconds since the start of 2001. Earlier dates would be written in one calendar and read in another.
  private static let writtenDates = -13_190_860_800.0..<252_423_993_600.0

  /// Makes a date.
  ///
  /// - Throws: ``PackError/Code/malformedPlist`` if the date would change when it is written as XML and read again.
  init(secondsSince2001 seconds: Double, path: String) throws(PackError) {
    guard Self.writtenDates.contains(seconds) else {
      throw PackError(.malformedPlist, "\(path) holds a date that is not in the years 1583 to 9999")
    }
    self = .date(bitPattern: seconds.bitPattern)
  }

  static func damagedBinary(_ path: String) -> PackError {
    PackError(.malformedPlist, "\(path) is a damaged binary property list, or has values that no Info.plist has")
  }

  static func tooDeep(_ path: String) -> PackError {
    PackError(.malformedPlist, "\(path): values are nested more than \(greatestDepth) levels deep")
  }
}
