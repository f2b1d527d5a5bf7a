package import PackFormat

// The binary form, version 00: objects that refer to each other by number, a table of their places, and a trailer of 32 bytes.
extension PropertyList {
  /// What a binary property list starts with.
  static let binaryMagic = Array("bplist".utf8)

  /// Reads the binary form.
  ///
  /// - Parameter path: for messages.
  package init(binary bytes: [UInt8], path: String) throws(PackError) {
    var reader = try BinaryPropertyListReader(bytes: bytes, path: path)
    self = try reader.topValue()
  }

  /// The binary form: the same bytes for the same values.
  package var binary: [UInt8] {
    var writer = BinaryPropertyListWriter()
    return writer.write(self)
  }
}

private struct BinaryPropertyListReader {
  private let bytes: [UInt8]
  private let path: String
  private let referenceSize: Int
  private let top: UInt64
  private let offsets: [Int]
  /// Values that may still be made: an object may stand in many places, and those in it in many more.
  private var remaining = 1_000_000

  init(bytes: [UInt8], path: String) throws(PackError) {
    func fault(_ text: String) -> PackError { PackError(.malformedPlist, "\(path) is a damaged binary property list: \(text)") }
    guard bytes.starts(with: PropertyList.binaryMagic + Array("00".utf8)) else {
      let version = String(decoding: bytes.dropFirst(6).prefix(2), as: UTF8.self)
      throw PackError(
        .malformedPlist, "\(path) is a binary property list of the version '\(version)', and only 00 is read",
        hint: "plutil -convert binary1 '\(path)'")
    }
    guard bytes.count >= 8 + 32 else { throw fault("it ends at byte \(bytes.count)") }
    let trailer = bytes.count - 32
    let offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    let count = Self.number(bytes[(trailer + 8)..<(trailer + 16)])
    top = Self.number(bytes[(trailer + 16)..<(trailer + 24)])
    let table = Self.number(bytes[(trailer + 24)..<(trailer + 32)])
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
      throw fault("its numbers have \(offsetSize) and \(referenceSize) bytes, and 1 to 8 are possible")
    }
    // The count is below the size of the file before anything is multiplied.
    guard count >= 1, count <= UInt64(trailer), table >= 8, table <= UInt64(trailer), UInt64(trailer) - table >= count * UInt64(offsetSize)
    else {
      throw fault("a table of \(count) objects at byte \(table) does not fit \(bytes.count) bytes")
    }
    guard top < count else { throw fault("its value is object \(top) of \(count)") }
    var offsets: [Int] = []
    offsets.reserveCapacity(Int(count))
    for index in 0..<Int(count) {
      let start = Int(table) + index * offsetSize
      let offset = Self.number(bytes[start..<(start + offsetSize)])
      guard offset >= 8, offset < table else { throw fault("object \(index) is at byte \(offset), outside the objects") }
      offsets.append(Int(offset))
    }
    self.offsets = offsets
    self.bytes = bytes
    self.path = path
  }

  mutating func topValue() throws(PackError) -> PropertyList {
    try value(top, depth: 1)
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  private func fault(_ text: String) -> PackError {
    PackError(.malformedPlist, "\(path) is a damaged binary property list: \(text)")
  }

  private func take(_ count: Int, at offset: Int) throws(PackError) -> ArraySlice<UInt8> {
    guard count >= 0, count <= bytes.count - 32 - offset else { throw fault("an object at byte \(offset) goes beyond the end") }
    return bytes[offset..<(offset + count)]
  }

  private mutating func value(_ reference: UInt64, depth: Int) throws(PackError) -> PropertyList {
    guard reference < UInt64(offsets.count) else { throw fault("object \(reference) of \(offsets.count) is referred to") }
    guard depth <= PropertyList.greatestDepth else { throw fault("values are deeper inside each other than \(PropertyList.greatestDepth)") }
    remaining -= 1
    guard remaining >= 0 else { throw fault("it holds more than 1000000 values") }
    let offset = offsets[Int(reference)]
    let marker = bytes[offset]
    let low = Int(marker & 0x0F)
    switch marker >> 4 {
    case 0x0 where marker == 0x08: return .boolean(false)
    case 0x0 where marker == 0x09: return .boolean(true)
    case 0x1 where low <= 4:
      return try integer(try take(1 << low, at: offset + 1))
    case 0x2 where low == 2:
      let bits = UInt32(truncatingIfNeeded: Self.number(try take(4, at: offset + 1)))
      return .real(bitPattern: Double(Float(bitPattern: bits)).bitPattern)
    case 0x2 where low == 3:
      return .real(bitPattern: Self.number(try take(8, at: offset + 1)))
    case 0x3 where low == 3:
      return .date(bitPattern: Self.number(try take(8, at: offset + 1)))
    case 0x4:
      let (count, start) = try count(low, at: offset)
      return .data(Array(try take(count, at: start)))
    case 0x5:
      let (count, start) = try count(low, at: offset)
      let text = try take(count, at: start)
      guard text.allSatisfy({ $0 < 0x80 }) else { throw fault("an ASCII text at byte \(offset) is none") }
      return .string(String(decoding: text, as: UTF8.self))
    case 0x6:
      let (count, start) = try count(low, at: offset)
      let text = Array(try take(count * 2, at: start))
      let units = stride(from: 0, to: text.count, by: 2).map { UInt16(text[$0]) << 8 | UInt16(text[$0 + 1]) }
      let string = String(decoding: units, as: UTF16.self)
      guard Array(string.utf16) == units else { throw fault("a UTF-16 text at byte \(offset) is none") }
      return .string(string)
    case 0x8 where low < 8:
      return .uid(Self.number(try take(low + 1, at: offset + 1)))
    case 0xA:
      var items: [PropertyList] = []
      for reference in try references(low, at: offset, perItem: 1) { items.append(try value(reference, depth: depth + 1)) }
      return .array(items)
    case 0xD:
      let references = try references(low, at: offset, perItem: 2)
      let count = references.count / 2
      var members: [PropertyList.Member] = []
      var known: Set<[UInt8]> = []
      for index in 0..<count {
        guard case .string(let key) = try value(references[index], depth: depth + 1) else {
          throw fault("a key of the dictionary at byte \(offset) is no string")
        }
        guard known.insert(Array(key.utf8)).inserted else { throw fault("a dictionary has the key '\(key)' twice") }
        members.append(.init(key, try value(references[count + index], depth: depth + 1)))
      }
      return .dictionary(members)
    default:
      throw fault("the object at byte \(offset) is of the unknown kind 0x\(String(marker, radix: 16))")
    }
  }

  /// 1, 2 and 4 bytes are without a sign, 8 with one, and 16 hold what 8 cannot.
  private func integer(_ bytes: ArraySlice<UInt8>) throws(PackError) -> PropertyList {
    let number = Self.number(bytes.suffix(8))
    switch bytes.count {
    case 16:
      if bytes.prefix(8).allSatisfy({ $0 == 0 }) { return .number(number) }
      guard bytes.prefix(8).allSatisfy({ $0 == 0xFF }), number >> 63 == 1 else { throw fault("an integer has more than 64 bits") }
      return .integer(Int64(bitPattern: number))
    case 8: return .integer(Int64(bitPattern: number))
    default: return .number(number)
    }
  }

  /// The number of things in an object, and where they start. From 15 on an integer says how many.
  private func count(_ low: Int, at offset: Int) throws(PackError) -> (count: Int, start: Int) {
    guard low == 15 else { return (low, offset + 1) }
    let marker = try take(1, at: offset + 1)
    let exponent = Int(marker[marker.startIndex] & 0x0F)
    guard marker[marker.startIndex] >> 4 == 1, exponent <= 3 else { throw fault("the object at byte \(offset) has no size") }
    let number = Self.number(try take(1 << exponent, at: offset + 2))
    guard number <= UInt64(bytes.count) else { throw fault("the object at byte \(offset) has \(number) parts") }
    return (Int(number), offset + 2 + 1 << exponent)
  }

  private func references(_ low: Int, at offset: Int, perItem: Int) throws(PackError) -> [UInt64] {
    let (count, start) = try count(low, at: offset)
    let all = try take(count * perItem * referenceSize, at: start)
    return (0..<(count * perItem)).map { index in
      let first = all.startIndex + index * referenceSize
      return Self.number(all[first..<(first + referenceSize)])
    }
  }
}

private struct BinaryPropertyListWriter {
  /// An object whose references are not encoded yet, because their size follows from how many there are.
  private enum Object {
    case bytes([UInt8])
    case array([Int])
    case dictionary(keys: [Int], values: [Int])
  }

  private var objects: [Object] = []
  /// Values that are the same are stored once, those without others inside.
  private var known: [[UInt8]: Int] = [:]

  mutating func write(_ value: PropertyList) -> [UInt8] {
    _ = add(value)
    let referenceSize = Self.size(of: UInt64(objects.count - 1))
    var output = PropertyList.binaryMagic + Array("00".utf8)
    var offsets: [Int] = []
    for object in objects {
      offsets.append(output.count)
      switch object {
      case .bytes(let bytes):
        output += bytes
      case .array(let items):
        output += Self.head(0xA0, items.count)
        for item in items { output += Self.bytes(UInt64(item), referenceSize) }
      case .dictionary(let keys, let values):
        output += Self.head(0xD0, keys.count)
        for item in keys + values { output += Self.bytes(UInt64(item), referenceSize) }
      }
    }
    let table = output.count
    let offsetSize = Self.size(of: UInt64(table))
    for offset in offsets { output += Self.bytes(UInt64(offset), offsetSize) }
    output += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    output += Self.bytes(UInt64(objects.count), 8) + Self.bytes(0, 8) + Self.bytes(UInt64(table), 8)
    return output
  }

  private mutating func add(_ value: PropertyList) -> Int {
    switch value {
    case .array(let items):
      let index = reserve()
      var references: [Int] = []
      for item in items { references.append(add(item)) }
      objects[index] = .array(references)
      return index
    case .dictionary(let members):
      let index = reserve()
      var (keys, values): ([Int], [Int]) = ([], [])
      for member in members { keys.append(add(.string(member.key))) }
      for member in members { values.append(add(member.value)) }
      objects[index] = .dictionary(keys: keys, values: values)
      return index
    default:
      let bytes = Self.scalar(value)
      if let index = known[bytes] { return index }
      objects.append(.bytes(bytes))
      known[bytes] = objects.count - 1
      return objects.count - 1
    }
  }

  private mutating func reserve() -> Int {
    objects.append(.bytes([]))
    return objects.count - 1
  }

  private static func scalar(_ value: PropertyList) -> [UInt8] {
    switch value {
    case .boolean(let isTrue): return [isTrue ? 0x09 : 0x08]
    case .integer(let number):
      // Negative ones always take eight bytes: shorter ones have no sign.
      let size = number < 0 ? 8 : size(of: UInt64(number))
      return [0x10 | UInt8(size.trailingZeroBitCount)] + bytes(UInt64(bitPattern: number), size)
    case .unsigned(let number): return [0x14] + bytes(0, 8) + bytes(number, 8)
    case .real(let bits): return [0x23] + bytes(bits, 8)
    case .date(let bits): return [0x33] + bytes(bits, 8)
    case .data(let data): return head(0x40, data.count) + data
    case .uid(let number):
      let size = size(of: number)
      return [0x80 | UInt8(size - 1)] + bytes(number, size)
    case .string(let text):
      let ascii = Array(text.utf8)
      if ascii.allSatisfy({ $0 < 0x80 }) { return head(0x50, ascii.count) + ascii }
      let units = Array(text.utf16)
      return head(0x60, units.count) + units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    case .array, .dictionary:
      preconditionFailure("an object with references is no scalar")
    }
  }

  private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
    count < 15 ? [kind | UInt8(count)] : [kind | 0x0F] + scalar(.integer(Int64(count)))
  }

  /// The least of 1, 2, 4 and 8 bytes that hold a number.
  private static func size(of number: UInt64) -> Int {
    switch number {
    case 0...0xFF: 1
    case 0x100...0xFFFF: 2
    case 0x1_0000...0xFFFF_FFFF: 4
    default: 8
    }
  }

  private static func bytes(_ number: UInt64, _ size: Int) -> [UInt8] {
    (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (UInt64($0) * 8)) }
  }
}
