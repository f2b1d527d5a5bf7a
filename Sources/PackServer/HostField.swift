import PackRuntime

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
    var host = Self.host(value)
    if host.hasSuffix(".") { host.removeLast() }
    let suffix = ".localhost"
    if host == "localhost" || host == "[::1]" || Self.isLoopback(host) {
      self = .machine
    } else if host.hasSuffix(suffix), host.utf8.count > suffix.utf8.count {
      self = .name(String(host.dropLast(suffix.utf8.count)))
    } else {
      self = .stranger
    }
  }

  /// The host in small letters, without the port.
  private static func host(_ value: String) -> String {
    let text = value.lowercased()
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") { return String(text[...end]) }
    return String(text.prefix { $0 != ":" })
  }

  /// The port with its colon, or nothing.
  static func port(_ value: String?) -> String {
    guard let value, let colon = value.lastIndex(of: ":"), !value.hasSuffix("]") else { return "" }
    let digits = value[value.index(after: colon)...]
    return UInt16(digits) == nil || digits.hasPrefix("+") ? "" : ":\(digits)"
  }

  private static func isLoopback(_ host: String) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { part in
        // No sign, which UInt8 would take.
        part.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt8(part) != nil
      }
  }
}
