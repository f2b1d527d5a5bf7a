/// The host that a request names, judged by whether it can only be this machine.
///
/// A page of a stranger can have its own name resolve to a loopback address and then counts as one origin with what is served there (DNS
/// rebinding). Its requests carry its name.
package enum HostField: Hashable {
  /// An address of this machine, or `localhost`.
  case machine
  /// A name below `localhost`, which browsers never ask anybody about (RFC 6761 §6.3): the part in front of it, in small letters.
  case name(String)
  case stranger

  /// - Parameter value: the value of `Host`, or of the authority in a whole address; nil where an old client names none.
  package init(_ value: String?) {
    guard let value, !value.isEmpty else {
      self = .machine
      return
    }
    guard var host = Self.host(value) else {
      self = .stranger
      return
    }
    if host.hasSuffix("."), !host.hasPrefix("[") { host.removeLast() }
    let suffix = ".localhost"
    if host == "localhost" || host == "[::1]" || Self.isLoopback(host) {
      self = .machine
    } else if host.hasSuffix(suffix), host.utf8.count > suffix.utf8.count {
      self = .name(String(host.dropLast(suffix.utf8.count)))
    } else {
      self = .stranger
    }
  }

  /// The host in small letters, without the port; nil where something else stands behind an address in brackets.
  private static func host(_ value: String) -> String? {
    let text = value.lowercased()
    guard text.hasPrefix("[") else { return String(text.prefix { $0 != ":" }) }
    guard let end = text.firstIndex(of: "]") else { return nil }
    let rest = text[text.index(after: end)...]
    return rest.isEmpty || rest.hasPrefix(":") ? String(text[...end]) : nil
  }

  /// The port with its colon, or nothing.
  static func port(_ value: String?) -> String {
    guard let value, let colon = value.lastIndex(of: ":"), !value.hasSuffix("]") else { return "" }
    let digits = value[value.index(after: colon)...]
    return isNumber(digits) && UInt16(digits) != nil ? ":\(digits)" : ""
  }

  private static func isLoopback(_ host: String) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { isNumber($0) && UInt8($0) != nil }
  }

  /// Digits alone: no sign, which the initializers of numbers would take.
  private static func isNumber(_ text: Substring) -> Bool { text.utf8.allSatisfy { (0x30...0x39).contains($0) } }
}
