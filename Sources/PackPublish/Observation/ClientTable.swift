/// A hash of bytes that cannot be predicted without its salt.
///
/// It stands for a client, so that no address is kept, and the same client has another one in each run.
struct ClientHash: Sendable {
  let salt: UInt64

  /// Returns the hash of bytes, after that of others.
  func hash(_ line: Span<UInt8>, _ place: Range<Int>, after other: UInt64 = 0) -> UInt64 {
    var state = salt ^ other &* 0x9E37_79B9_7F4A_7C15
    var index = place.lowerBound
    while index + 8 <= place.upperBound {
      let word = unsafe line.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
      state = Self.mix(state ^ word, 0xA076_1D64_78BD_642F)
      index += 8
    }
    var last: UInt64 = 0
    while index < place.upperBound {
      last = last << 8 | UInt64(line[index])
      index += 1
    }
    return Self.mix(state ^ last, 0xE703_7ED1_A0B4_28DB ^ UInt64(place.count))
  }

  /// Returns the hash of a number, after another one.
  func hash(_ number: UInt64, after other: UInt64) -> UInt64 {
    Self.mix(other ^ Self.mix(salt ^ number, 0xA076_1D64_78BD_642F), 0x8EBC_6AF0_9C88_C6E3)
  }

  private static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
  }
}

/// A number for each of the last million hashes. Of the others, the number is forgotten, and how many were is counted.
///
/// A set of eight hashes is sorted by when each was used last, and the oldest gives its place to a new one.
struct ClientTable {
  private struct Entry {
    var key: UInt64 = 0
    var value: UInt64 = 0
  }

  private static let ways = 8

  private var entries: [Entry]
  private let sets: UInt64
  /// How many entries gave their place to others.
  private(set) var forgotten: UInt64 = 0

  /// - Parameter capacity: a power of two. An entry takes 16 bytes.
  init(capacity: Int = 1 << 20) {
    precondition(capacity >= Self.ways && capacity.nonzeroBitCount == 1, "not a power of two")
    entries = Array(repeating: Entry(), count: capacity)
    sets = UInt64(capacity / Self.ways)
  }

  /// Returns the number of a hash, or nil if it has none.
  mutating func value(of hash: UInt64) -> UInt64? {
    let key = Self.key(hash)
    let first = first(key)
    return place(key, first).map { place in
      move(place, to: first)
      return entries[first].value
    }
  }

  /// Gives a hash a number.
  mutating func set(_ hash: UInt64, to value: UInt64) {
    let key = Self.key(hash)
    let first = first(key)
    if let place = place(key, first) {
      move(place, to: first)
    } else {
      let last = first + Self.ways - 1
      if entries[last].key != 0 { forgotten += 1 }
      entries[last] = Entry(key: key)
      move(last, to: first)
    }
    entries[first].value = value
  }

  /// Forgets a hash, without counting it.
  mutating func remove(_ hash: UInt64) {
    let key = Self.key(hash)
    let first = first(key)
    guard let place = place(key, first) else { return }
    for index in place..<first + Self.ways - 1 { entries[index] = entries[index + 1] }
    entries[first + Self.ways - 1] = Entry()
  }

  /// 0 marks a free place.
  private static func key(_ hash: UInt64) -> UInt64 { max(hash, 1) }

  private func first(_ key: UInt64) -> Int { Int(key & (sets - 1)) * Self.ways }

  private func place(_ key: UInt64, _ first: Int) -> Int? {
    for index in first..<first + Self.ways where entries[index].key == key { return index }
    return nil
  }

  private mutating func move(_ place: Int, to first: Int) {
    guard place > first else { return }
    let entry = entries[place]
    for index in stride(from: place, to: first, by: -1) { entries[index] = entries[index - 1] }
    entries[first] = entry
  }
}
