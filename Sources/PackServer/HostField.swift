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
    guard var host = Self.split(value)?.host else {
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

  /// Whether a request names this machine, or one of some names or addresses. An address of IPv6 stands in brackets there.
  static func isOne(of names: [String], _ value: String?) -> Bool {
    guard HostField(value) == .stranger, let value = value?.lowercased() else { return true }
    return names.contains { name in
      let host = (name.contains(":") ? "[\(name)]" : name).lowercased()
      return value == host || value.hasPrefix("\(host):")
    }
  }

  /// Returns the host in lower case and the port, which may be empty; nil if the value is anything but a host, or a host, a colon and a port.
  ///
  /// The characters are those of names of packs, so that a user name, a path or another host in the value is refused and not skipped.
  private static func split(_ value: String) -> (host: String, port: String)? {
    // Some other letters become ASCII ones in lower case.
    guard value.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
    var host = value.lowercased()
    var port = ""
    if let colon = host.lastIndex(of: ":"), !host.hasSuffix("]") {
      let digits = host[host.index(after: colon)...]
      guard !digits.isEmpty, digits.utf8.count <= 5, isNumber(digits), UInt16(digits) != nil else { return nil }
      port = String(digits)
      host = String(host[..<colon])
    }
    let isName = host.utf8.allSatisfy { byte in
      (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x2E || byte == 0x5F
    }
    return isName && !host.isEmpty || host == "[::1]" ? (host, port) : nil
  }

  /// Returns the port with its colon, or an empty string.
  static func port(_ value: String?) -> String {
    guard let value, let port = split(value)?.port, !port.isEmpty else { return "" }
    return ":\(port)"
  }

  private static func isLoopback(_ host: String) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { isNumber($0) && UInt8($0) != nil }
  }

  /// Returns whether a text has only digits. The initializers of numbers would also accept a sign.
  private static func isNumber(_ text: Substring) -> Bool { text.utf8.allSatisfy { (0x30...0x39).contains($0) } }
}
