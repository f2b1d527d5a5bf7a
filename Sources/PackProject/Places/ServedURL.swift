package import PackFormat

/// The URL of something that the system downloads for an app, checked: https, with a host that an allow list can name.
package struct ServedURL: Hashable, Sendable, CustomStringConvertible {
  /// The URL as it was given.
  package let text: String
  /// The host, in lower case.
  package let host: String
  /// The port, where one is named.
  package let port: UInt16?
  /// Whether it has a query.
  package let hasQuery: Bool

  /// Takes a URL apart (RFC 3986), and refuses what the system would not download.
  ///
  /// - Throws: ``PackError/Code/malformedURL``.
  package init(_ text: String) throws(PackError) {
    func refuse(_ fault: String, hint: String? = nil) -> PackError {
      PackError(.malformedURL, of: "the URL '\(text)'", fault, hint: hint)
    }
    guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else {
      throw refuse("is not one that starts with https://")
    }
    guard text[..<colon].lowercased() == "https" else {
      throw refuse("has the scheme '\(text[..<colon])', and the system downloads over https only", hint: "serve it over https")
    }
    let rest = text[text.index(colon, offsetBy: 3)...]
    let authority = rest.prefix { !"/?#".contains($0) }
    let tail = rest[authority.endIndex...]
    // The part in front of it may hold a password, which must not be repeated.
    guard !authority.contains("@") else {
      throw PackError(
        .malformedURL, "a URL holds a user name or a password", hint: "remove what stands before the @: the URL is in every app")
    }
    guard !tail.contains("#") else {
      throw refuse("has a fragment, which no server ever sees", hint: "remove what stands behind the #")
    }
    var name = authority
    var port: UInt16?
    // Colons inside brackets belong to an address.
    if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
      name = authority[..<colon]
      let digits = authority[authority.index(after: colon)...]
      guard let number = UInt16(digits), number > 0, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else {
        throw refuse("has the port '\(digits)', which is none")
      }
      port = number
    }
    let host = name.allSatisfy(\.isASCII) ? name.lowercased() : String(name)
    if let fault = HostName.problem(of: host) {
      throw refuse("has a host that \(fault.text)", hint: fault.hint)
    }
    guard text.utf8.count <= Self.longest else {
      throw refuse("is \(text.utf8.count) bytes long, and a device asks for \(Self.longest) at most")
    }
    guard tail.matches(of: /%(?![0-9A-Fa-f]{2})/).isEmpty else {
      throw refuse("has a percent sign that no two hexadecimal digits follow", hint: "write %25 for the sign itself")
    }
    guard let odd = tail.unicodeScalars.first(where: { !Self.isLegal($0) }) else {
      self.text = text
      self.host = host
      self.port = port
      hasQuery = tail.contains("?")
      return
    }
    throw refuse(
      "holds the character U+\(String(odd.value, radix: 16, uppercase: true)), which a URL cannot",
      hint: "write it with percent signs")
  }

  /// The URL.
  package var description: String { text }

  /// What is likely to go wrong, though nothing forbids it: a sentence each.
  package var warnings: [String] {
    var warnings: [String] = []
    if hasQuery { warnings.append("the URL '\(text)' has a query, which caches treat differently and which tends to expire") }
    if let port, port != 443 { warnings.append("the URL '\(text)' names the port \(port), which some networks block") }
    return warnings
  }

  /// The most bytes of a URL that the client library asks for.
  static let longest = 2048

  /// The characters of RFC 3986 behind the authority, the percent sign among them.
  private static func isLegal(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "A"..."Z", "a"..."z", "0"..."9": true
    default: "-._~:/?[]@!$&'()*+,;=%".unicodeScalars.contains(scalar)
    }
  }
}

/// The rules for the names of hosts that a device asks for.
enum HostName {
  struct Problem {
    /// Goes on behind "a host that".
    var text: String
    var hint: String?
  }

  /// - Parameter host: in lower case where it is ASCII.
  static func problem(of host: String) -> Problem? {
    guard !host.isEmpty else { return Problem(text: "is empty") }
    guard host.allSatisfy(\.isASCII) else {
      return Problem(text: "is not written in punycode: '\(host)'", hint: Punycode.host(host).map { "write \($0)" })
    }
    guard !host.contains(":"), !host.contains("["), !isAddress(host) else {
      return Problem(text: "is an address, and allow lists hold names: '\(host)'", hint: "give the server a name")
    }
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    if labels.count > 1, labels.last == "" {
      return Problem(text: "ends in a dot: '\(host)'", hint: "write \(host.dropLast())")
    }
    for label in labels {
      if label.isEmpty { return Problem(text: "has an empty part: '\(host)'") }
      if label.utf8.count > 63 { return Problem(text: "has a part of \(label.utf8.count) bytes, and 63 are the most: '\(label)'") }
      if let odd = label.first(where: { !isLegal($0) }) { return Problem(text: "holds '\(odd)', which names of hosts do not: '\(host)'") }
      if label.hasPrefix("-") || label.hasSuffix("-") {
        return Problem(text: "has a part that starts or ends with a hyphen: '\(host)'")
      }
    }
    if host.utf8.count > 253 { return Problem(text: "has \(host.utf8.count) bytes, and 253 are the most: '\(host)'") }
    if labels.count == 1 { return Problem(text: "has no dot, so that no device outside your network finds it: '\(host)'") }
    return nil
  }

  /// Underscores are no letters of host names, but names with them are served.
  private static func isLegal(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || character == "-" || character == "_")
  }

  /// Four numbers: no name ends in one (RFC 1123 §2.1).
  static func isAddress(_ host: String) -> Bool {
    let last = host.split(separator: ".", omittingEmptySubsequences: true).last ?? ""
    return !last.isEmpty && last.allSatisfy { $0.isASCII && $0.isNumber }
  }
}

extension PackError.Code {
  /// A URL that the system would not download: another scheme than https, no host, credentials in it.
  package static let malformedURL = Self(rawValue: "malformed-url")
  /// A file that is no property list, or one that holds something no property list may.
  package static let malformedPlist = Self(rawValue: "malformed-plist")
  /// A property list has values of its own where packer would write others.
  package static let plistConflict = Self(rawValue: "plist-conflict")
}
