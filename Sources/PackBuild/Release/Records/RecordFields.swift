/// The members of an object, taken one by one. Members that are left at the end are unknown.
package struct RecordFields {
  private let place: String
  private var members: [String: JSON]

  /// - Parameter place: the name of the object in messages.
  package init(_ value: JSON, _ place: String) throws(PackError) {
    guard case .object(let members) = value else { throw PackError(.invalidRecord, "\(place) is not an object") }
    self.place = place
    self.members = Dictionary(uniqueKeysWithValues: members.map { ($0.key, $0.value) })
  }

  private mutating func take(_ key: String) throws(PackError) -> JSON {
    guard let value = members.removeValue(forKey: key) else { throw PackError(.invalidRecord, "\(place) has no '\(key)'") }
    return value
  }

  /// Whether the object has a member that was not taken yet.
  package func has(_ key: String) -> Bool { members[key] != nil }

  /// Whether the object has a list under a key that was not taken yet.
  func hasList(_ key: String) -> Bool {
    if case .list = members[key] { true } else { false }
  }

  mutating func object(_ key: String) throws(PackError) -> JSON {
    try take(key)
  }

  package mutating func text(_ key: String) throws(PackError) -> String {
    guard case .text(let text) = try take(key) else { throw PackError(.invalidRecord, "'\(key)' of \(place) is not a text") }
    return text
  }

  /// Takes a whole number of at most 2^53 − 1, so that no program that reads the file rounds it.
  package mutating func number(_ key: String) throws(PackError) -> UInt64 {
    guard case .number(let number) = try take(key) else {
      throw PackError(.invalidRecord, "'\(key)' of \(place) is not a whole number")
    }
    guard number <= Limits.packVersion else {
      throw PackError(.invalidRecord, "'\(key)' of \(place) is \(number), more than \(Limits.packVersion)")
    }
    return number
  }

  package mutating func flag(_ key: String) throws(PackError) -> Bool {
    guard case .flag(let flag) = try take(key) else { throw PackError(.invalidRecord, "'\(key)' of \(place) is neither true nor false") }
    return flag
  }

  package mutating func list(_ key: String) throws(PackError) -> [JSON] {
    guard case .list(let values) = try take(key) else { throw PackError(.invalidRecord, "'\(key)' of \(place) is not a list") }
    return values
  }

  mutating func texts(_ key: String) throws(PackError) -> [String] {
    var texts: [String] = []
    for value in try list(key) {
      guard case .text(let text) = value else { throw PackError(.invalidRecord, "'\(key)' of \(place) holds something other than texts") }
      texts.append(text)
    }
    return texts
  }

  /// Takes bytes in lower-case hexadecimal.
  mutating func bytes(_ key: String, count: Int) throws(PackError) -> [UInt8] {
    let text = try text(key)
    guard let bytes = [UInt8](hex: text, count: count) else {
      throw PackError(.invalidRecord, "'\(key)' of \(place) is not \(2 * count) hexadecimal digits")
    }
    return bytes
  }

  /// Takes the id of a content key.
  mutating func keyID(_ key: String) throws(PackError) -> String {
    try bytes(key, count: 8).hex
  }

  /// Throws if the object has members that were not taken.
  func finish() throws(PackError) {
    guard let key = members.keys.sorted().first else { return }
    throw PackError(.invalidRecord, "\(place) has the unknown key '\(key)'")
  }
}
