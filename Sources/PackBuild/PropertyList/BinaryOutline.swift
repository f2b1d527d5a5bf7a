/// The objects of a binary property list and their references to each other.
///
/// An array or a dictionary that is referenced twice is refused, and so are texts and data that references expand to far more than a file can hold.
/// Otherwise a few hundred bytes could fill the memory. No known writer references an array or a dictionary twice.
struct BinaryOutline: Hashable, Sendable {
  private let bytes: [UInt8]
  /// The offset of each object.
  private var offsets: [Int] = []
  /// The size of a reference to an object in bytes.
  private let referenceSize: Int
  /// The number of the top-level object.
  private let top: Int

  /// Reads the outline. Returns nil if the bytes are not a binary property list, or if it has objects that no Info.plist has.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 40 else { return nil }
    self.bytes = bytes
    let trailer = bytes.count - 32
    let offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    guard let count = Self.number(in: bytes, at: trailer + 8, size: 8), let top = Self.number(in: bytes, at: trailer + 16, size: 8),
      let table = Self.number(in: bytes, at: trailer + 24, size: 8), count <= trailer, top < count, table <= trailer,
      // Only the offset table is between the objects and the trailer.
      count * offsetSize == trailer - table
    else { return nil }
    self.top = top
    offsets.reserveCapacity(count)
    for index in 0..<count {
      guard let offset = Self.number(in: bytes, at: table + index * offsetSize, size: offsetSize), (8..<table).contains(offset),
        Self.isKnown(bytes[offset])
      else { return nil }
      offsets.append(offset)
    }
    guard hasSoundReferences else { return nil }
  }

  /// Whether every reference leads to an object of an allowed kind, and every container except the top-level one is referenced exactly once.
  private var hasSoundReferences: Bool {
    var isHeld = [Bool](repeating: false, count: offsets.count)
    isHeld[top] = true
    var (references, expanded) = (0, 0)
    for offset in offsets where Self.isArray(bytes[offset]) || Self.isDictionary(bytes[offset]) {
      guard let (items, start) = extent(at: offset) else { return false }
      let names = Self.isDictionary(bytes[offset]) ? items : 0
      references += names + items
      guard references <= bytes.count else { return false }
      for index in 0..<(names + items) {
        guard let held = Self.number(in: bytes, at: start + index * referenceSize, size: referenceSize), held < offsets.count else {
          return false
        }
        let kind = bytes[offsets[held]]
        if index < names {
          guard kind >> 4 == 0x5 || kind >> 4 == 0x6 else { return false }
        }
        if Self.isArray(kind) || Self.isDictionary(kind) {
          guard !isHeld[held] else { return false }
          isHeld[held] = true
        } else if (0x4...0x6).contains(kind >> 4) {
          expanded += extent(at: offsets[held])?.count ?? 0
          guard expanded <= 4 * PropertyList.largestSize else { return false }
        }
      }
    }
    return offsets.indices.allSatisfy { isHeld[$0] || !isArray($0) && !isDictionary($0) }
  }

  // MARK: Values

  /// Returns the values, with the keys of dictionaries in ascending order.
  ///
  /// - Parameter path: the path of the file, for messages.
  func propertyList(path: String) throws(PackError) -> PropertyList {
    var reader = BinaryReader(outline: self, path: path)
    return try reader.value(of: top, depth: 1)
  }

  /// Returns the numbers of the objects in a container. For a dictionary, the keys come first, then the values.
  fileprivate func references(of object: Int) -> [Int] {
    let offset = offsets[object]
    guard let (items, start) = extent(at: offset) else { return [] }
    return (0..<(Self.isDictionary(bytes[offset]) ? 2 * items : items)).compactMap {
      Self.number(in: bytes, at: start + $0 * referenceSize, size: referenceSize)
    }
  }

  fileprivate func isArray(_ object: Int) -> Bool { Self.isArray(bytes[offsets[object]]) }

  fileprivate func isDictionary(_ object: Int) -> Bool { Self.isDictionary(bytes[offsets[object]]) }

  /// Returns the value of an object that is not a container, or nil if its bytes are damaged.
  fileprivate func scalar(_ object: Int) -> Scalar? {
    let marker = bytes[offsets[object]]
    let start = offsets[object] + 1
    func contents(unit: Int = 1) -> ArraySlice<UInt8>? {
      guard let (count, start) = extent(at: offsets[object]), count <= (bytes.count - start) / unit else { return nil }
      return bytes[start..<(start + count * unit)]
    }
    switch marker {
    case 0x08: return .value(.boolean(false))
    case 0x09: return .value(.boolean(true))
    case 0x10...0x12: return bits(at: start, size: 1 << Int(marker & 0x0F)).map { .value(.number($0)) }
    case 0x13: return bits(at: start, size: 8).map { .value(.integer(Int64(bitPattern: $0))) }
    case 0x14:
      guard bits(at: start, size: 8) == 0 else { return nil }
      return bits(at: start + 8, size: 8).map { .value(.number($0)) }
    case 0x22:
      return bits(at: start, size: 4).map { .value(.real(bitPattern: Double(Float(bitPattern: UInt32($0))).bitPattern)) }
    case 0x23: return bits(at: start, size: 8).map { .value(.real(bitPattern: $0)) }
    case 0x33: return bits(at: start, size: 8).map { .date(Double(bitPattern: $0)) }
    case 0x40...0x4F: return contents().map { .value(.data(Array($0))) }
    case 0x50...0x5F:
      guard let characters = contents(), characters.allSatisfy({ $0 < 0x80 }) else { return nil }
      return .value(.string(String(decoding: characters, as: UTF8.self)))
    default:
      guard let halves = contents(unit: 2) else { return nil }
      let units = stride(from: halves.startIndex, to: halves.endIndex, by: 2).map { UInt16(halves[$0]) << 8 | UInt16(halves[$0 + 1]) }
      let text = String(decoding: units, as: UTF16.self)
      // Decoding replaces half a surrogate pair. `String(validating:as:)` exists only from macOS 15 on.
      return text.utf16.elementsEqual(units) ? .value(.string(text)) : nil
    }
  }

  fileprivate enum Scalar {
    case value(PropertyList)
    /// Seconds since 2001.
    case date(Double)
  }

  // MARK: Bytes

  /// Returns the number of parts of the object at `offset`, and the offset of the first one.
  private func extent(at offset: Int) -> (count: Int, start: Int)? {
    let count = Int(bytes[offset] & 0x0F)
    guard count == 15 else { return (count, offset + 1) }
    let width = 1 << Int(bytes[offset + 1] & 0x0F)
    guard let many = Self.number(in: bytes, at: offset + 2, size: width), many <= bytes.count else { return nil }
    return (many, offset + 2 + width)
  }

  private func bits(at place: Int, size: Int) -> UInt64? {
    guard place <= bytes.count - size else { return nil }
    return bytes[place..<(place + size)].reduce(0) { $0 << 8 | UInt64($1) }
  }

  private static func number(in bytes: [UInt8], at place: Int, size: Int) -> Int? {
    guard place >= 8, (1...8).contains(size), place <= bytes.count - size else { return nil }
    return Int(exactly: bytes[place..<(place + size)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }

  private static func isArray(_ marker: UInt8) -> Bool { marker >> 4 == 0xA }

  private static func isDictionary(_ marker: UInt8) -> Bool { marker >> 4 == 0xD }

  private static func isKnown(_ marker: UInt8) -> Bool {
    switch marker {
    case 0x08, 0x09, 0x10...0x14, 0x22, 0x23, 0x33, 0x40...0x6F, 0xA0...0xAF, 0xD0...0xDF: true
    default: false
    }
  }
}

/// Reads the values of an outline, each object once.
private struct BinaryReader {
  let outline: BinaryOutline
  let path: String
  /// The values that were read, by object number. They are kept because a text may be referenced often.
  private var values: [Int: PropertyList] = [:]

  init(outline: BinaryOutline, path: String) {
    self.outline = outline
    self.path = path
  }

  mutating func value(of object: Int, depth: Int) throws(PackError) -> PropertyList {
    guard depth <= PropertyList.greatestDepth else { throw PropertyList.tooDeep(path) }
    if outline.isArray(object) {
      var items: [PropertyList] = []
      for reference in outline.references(of: object) { items.append(try value(of: reference, depth: depth + 1)) }
      return .array(items)
    }
    if outline.isDictionary(object) { return try dictionary(object, depth: depth) }
    if let value = values[object] { return value }
    let value: PropertyList
    switch outline.scalar(object) {
    case .value(let scalar): value = scalar
    case .date(let seconds): value = try PropertyList(secondsSince2001: seconds, path: path)
    case nil: throw PropertyList.damagedBinary(path)
    }
    values[object] = value
    return value
  }

  private mutating func dictionary(_ object: Int, depth: Int) throws(PackError) -> PropertyList {
    let references = outline.references(of: object)
    let count = references.count / 2
    var members: [PropertyList.Member] = []
    var keys: Set<String> = []
    for index in 0..<count {
      guard case .string(let key) = try value(of: references[index], depth: depth + 1) else { throw PropertyList.damagedBinary(path) }
      guard keys.insert(key).inserted else {
        throw PackError(.malformedPlist, "\(path): a dictionary has the key '\(key)' twice")
      }
      members.append(PropertyList.Member(key, try value(of: references[count + index], depth: depth + 1)))
    }
    return .dictionary(members.sorted())
  }
}
