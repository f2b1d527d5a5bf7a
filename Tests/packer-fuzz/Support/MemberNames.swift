import Foundation

/// Returns the paths of all members of a JSON document, read by a parser that accepts more than the strict one.
func memberNames(in document: [UInt8]) -> Set<String> {
  guard let value = try? JSONSerialization.jsonObject(with: Data(document), options: .fragmentsAllowed) else { return [] }
  var keys: Set<String> = []
  func look(_ value: Any, _ path: String) {
    if let object = value as? [String: Any] {
      for (key, member) in object {
        keys.insert("\(path)/\(key)")
        look(member, "\(path)/\(key)")
      }
    } else if let array = value as? [Any] {
      for item in array { look(item, path) }
    }
  }
  look(value, "")
  return keys
}
