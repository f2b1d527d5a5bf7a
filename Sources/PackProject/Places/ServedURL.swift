/// The checked URL of a file that the system downloads for an app: https, with a host that an allow list can name.
package struct ServedURL: Hashable, Sendable, CustomStringConvertible {
  /// The URL, as given.
  package let text: String
  /// The host, in lower case.
  package let host: String
  /// The port, if the URL has one.
  package let port: UInt16?
  /// Whether it has a query.
  package let hasQuery: Bool

  /// Parses a URL (RFC 3986), and refuses one that the system would not download.
  ///
  /// - Throws: ``PackError/Code/malformedURL``.
  package init(_ text: String) throws(PackError) {
    func refuse(_ fault: String, hint: String? = nil) -> PackError {
      PackError(.malformedURL, of: "the URL '\(text)'", fault, hint: hint)
    }
    guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else {
      throw refuse("does not start with https://")
    }
    guard text[..<colon].lowercased() == "https" else {
      throw refuse("has the scheme '\(text[..<colon])', but the system downloads only over https", hint: "serve it over https")
    }
    let rest = text[text.index(colon, offsetBy: 3)...]
    let authority = rest.prefix { !"/?#".contains($0) }
    let tail = rest[authority.endIndex...]
    // The part before the @ may contain a password, which must not be in the message.
    guard !authority.contains("@") else {
      throw PackError(
        .malformedURL, "a URL contains a user name or a password", hint: "remove the part before the @: the URL is in every app")
    }
    guard !tail.contains("#") else {
      throw refuse("has a fragment, which is never sent to a server", hint: "remove the # and everything after it")
    }
    var name = authority
    var port: UInt16?
    // Colons inside brackets are part of an IP address.
    if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
      name = authority[..<colon]
      let digits = authority[authority.index(after: colon)...]
      guard let number = UInt16(digits), number > 0, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else {
        throw refuse("has the port '\(digits)', which is not a port number")
      }
      port = number
    }
    let host = name.allSatisfy(\.isASCII) ? name.lowercased() : String(name)
    if let fault = HostName.problem(of: host) {
      throw refuse("has a host that \(fault.text)", hint: fault.hint)
    }
    guard text.utf8.count <= Self.longest else {
      throw refuse("is \(text.utf8.count) bytes long; at most \(Self.longest) are allowed")
    }
    guard tail.matches(of: /%(?![0-9A-Fa-f]{2})/).isEmpty else {
      throw refuse("has a percent sign without two hexadecimal digits after it", hint: "write %25 for the sign itself")
    }
    guard let odd = tail.unicodeScalars.first(where: { !Self.isLegal($0) }) else {
      self.text = text
      self.host = host
      self.port = port
      hasQuery = tail.contains("?")
      return
    }
    throw refuse(
      "contains the character U+\(String(odd.value, radix: 16, uppercase: true)), which a URL cannot contain",
      hint: "percent-encode it")
  }

  /// The URL.
  package var description: String { text }

  /// Likely problems with the URL, although it is valid. One sentence each.
  package var warnings: [String] {
    var warnings: [String] = []
    if hasQuery { warnings.append("the URL '\(text)' has a query, which caches treat differently and which often expires") }
    if let port, port != 443 { warnings.append("the URL '\(text)' uses the port \(port), which some networks block") }
    return warnings
  }

  /// The maximum length in bytes of a URL that the client library requests.
  static let longest = 2048

  /// Whether RFC 3986 allows a character after the authority. It allows the percent sign.
  private static func isLegal(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "A"..."Z", "a"..."z", "0"..."9": true
    default: "-._~:/?@!$&'()*+,;=%".unicodeScalars.contains(scalar)
    }
  }
}

/// The rules for host names in URLs and allow lists.
enum HostName {
  struct Problem {
    /// The end of a sentence that starts with "a host that".
    var text: String
    var hint: String?
  }

  /// Returns the problem of a host name; nil if it has none.
  ///
  /// - Parameter host: in lower case if it is ASCII.
  static func problem(of host: String) -> Problem? {
    guard !host.isEmpty else { return Problem(text: "is empty") }
    guard host.allSatisfy(\.isASCII) else {
      return Problem(text: "is not written in punycode: '\(host)'", hint: Punycode.host(host).map { "write \($0)" })
    }
    guard !host.contains(":"), !host.contains("["), !isAddress(host) else {
      return Problem(text: "is an IP address, but allow lists contain names: '\(host)'", hint: "use a host name")
    }
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    if labels.count > 1, labels.last == "" {
      return Problem(text: "ends in a dot: '\(host)'", hint: "write \(host.dropLast())")
    }
    for label in labels {
      if label.isEmpty { return Problem(text: "has an empty part: '\(host)'") }
      if label.utf8.count > 63 { return Problem(text: "has a part of \(label.utf8.count) bytes (at most 63 are allowed): '\(label)'") }
      if let odd = label.first(where: { !isLegal($0) }) { return Problem(text: "contains '\(odd)', which is not allowed: '\(host)'") }
      if label.hasPrefix("-") || label.hasSuffix("-") {
        return Problem(text: "has a part that starts or ends with a hyphen: '\(host)'")
      }
    }
    if host.utf8.count > 253 { return Problem(text: "has \(host.utf8.count) bytes (at most 253 are allowed): '\(host)'") }
    if labels.count == 1 { return Problem(text: "has no dot, so devices outside your network cannot find it: '\(host)'") }
    return nil
  }

  /// Whether a host name may contain a character. Underscores are not standard, but names with them are in use.
  private static func isLegal(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || character == "-" || character == "_")
  }

  /// Whether a host is an IPv4 address: no name ends in a number (RFC 1123 §2.1).
  static func isAddress(_ host: String) -> Bool {
    let last = host.split(separator: ".", omittingEmptySubsequences: true).last ?? ""
    return !last.isEmpty && last.allSatisfy { $0.isASCII && $0.isNumber }
  }
}

extension PackError.Code {
  /// A URL that the system would not download: another scheme than https, no host, credentials in it.
  package static let malformedURL = Self(rawValue: "malformed-url")
  /// A server does not answer at all.
  package static let serverUnreachable = Self(rawValue: "server-unreachable")
  /// A file is not a property list, or contains something that a property list cannot contain.
  package static let malformedPlist = Self(rawValue: "malformed-plist")
  /// A property list has values that packer did not write and would change.
  package static let plistConflict = Self(rawValue: "plist-conflict")
}
