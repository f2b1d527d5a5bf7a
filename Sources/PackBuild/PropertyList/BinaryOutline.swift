/// Who holds whom in a binary property list, and nothing of what the values are.
///
/// Foundation's reader is not to be given just any bytes: on Linux a set ends the process, and an object is made as often as something refers to
/// it, so that a few hundred bytes can fill the memory. No writer that is known uses sets or refers to an array or a dictionary twice.
struct BinaryOutline: Hashable, Sendable {
  /// How many keys there are, in all dictionaries together.
  private(set) var keys = 0

  /// Nil for bytes that Foundation's reader must not see.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 40 else { return nil }
    let trailer = bytes.count - 32
    func number(at place: Int, size: Int) -> Int? {
      guard place >= 8, (1...8).contains(size), place <= bytes.count - size else { return nil }
      return Int(exactly: bytes[place..<(place + size)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
    let (offsetSize, referenceSize) = (Int(bytes[trailer + 6]), Int(bytes[trailer + 7]))
    guard let count = number(at: trailer + 8, size: 8), let top = number(at: trailer + 16, size: 8),
      let table = number(at: trailer + 24, size: 8), count <= trailer, top < count, table <= trailer
    else { return nil }
    var offsets: [Int] = []
    offsets.reserveCapacity(count)
    for index in 0..<count {
      guard let offset = number(at: table + index * offsetSize, size: offsetSize), offset < trailer, Self.isKnown(bytes[offset]) else {
        return nil
      }
      offsets.append(offset)
    }
    var isHeld = [Bool](repeating: false, count: count)
    isHeld[top] = true
    var references = 0
    for offset in offsets where Self.isArray(bytes[offset]) || Self.isDictionary(bytes[offset]) {
      var (items, start) = (Int(bytes[offset] & 0x0F), offset + 1)
      if items == 15 {
        let width = 1 << Int(bytes[start] & 0x0F)
        guard let many = number(at: start + 1, size: width), many <= bytes.count else { return nil }
        (items, start) = (many, start + 1 + width)
      }
      let names = Self.isDictionary(bytes[offset]) ? items : 0
      references += names + items
      guard references <= bytes.count else { return nil }
      keys += names
      for index in 0..<(names + items) {
        guard let held = number(at: start + index * referenceSize, size: referenceSize), held < count else { return nil }
        let kind = bytes[offsets[held]]
        if index < names {
          guard kind >> 4 == 0x5 || kind >> 4 == 0x6 else { return nil }
        } else if Self.isArray(kind) || Self.isDictionary(kind) {
          guard !isHeld[held] else { return nil }
          isHeld[held] = true
        }
      }
    }
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
