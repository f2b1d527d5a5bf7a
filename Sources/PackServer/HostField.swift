/// The host that a request names, classified by whether it can only be this machine.
///
/// A foreign page can make its own host name resolve to a loopback address, so that the browser treats this server as the same origin (DNS
/// rebinding). Such requests carry the foreign host name.
package enum HostField: Hashable {
  /// An address of this machine, or `localhost`.
  case machine
  /// A name below `localhost`, which browsers resolve without DNS (RFC 6761 §6.3). The value is the part before `.localhost`, in lower case.
  case name(String)
  /// Any other host.
  case stranger

  /// Classifies a host.
  ///
  /// - Parameter value: the value of `Host`, or the authority of an absolute target; nil if an old client sends none.
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

  /// Returns the host in lower case, without the port; nil if anything but a port follows an address in brackets.
  private static func host(_ value: String) -> String? {
    let text = value.lowercased()
    guard text.hasPrefix("[") else { return String(text.prefix { $0 != ":" }) }
    guard let end = text.firstIndex(of: "]") else { return nil }
    let rest = text[text.index(after: end)...]
    return rest.isEmpty || rest.hasPrefix(":") ? String(text[...end]) : nil
  }

  /// Returns the port with its colon, or an empty string.
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

  /// Returns whether a text has only digits. The initializers of numbers would also accept a sign.
  private static func isNumber(_ text: Substring) -> Bool { text.utf8.allSatisfy { (0x30...0x39).contains($0) } }
}
