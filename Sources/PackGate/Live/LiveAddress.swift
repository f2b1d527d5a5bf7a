/// An address that a live check asks: over https as devices do, on this machine also over http.
package struct LiveAddress: Hashable, Sendable {
  /// The address, as given.
  package let text: String
  /// The host, in lower case.
  let host: String
  /// Whether the host is this machine.
  let isLocal: Bool

  /// Parses an address, and refuses one that devices would not download from.
  ///
  /// - Throws: ``PackError/Code/malformedURL``.
  package init(_ text: String) throws(PackError) {
    self.text = text
    for scheme in ["https://", "http://"] where text.hasPrefix(scheme) {
      let rest = text.dropFirst(scheme.utf8.count)
      for name in ["localhost", "127.0.0.1", "[::1]"] where rest.hasPrefix(name) {
        let tail = rest.dropFirst(name.utf8.count)
        guard tail.first.map({ ":/?".contains($0) }) ?? true else { continue }
        // The rules for what follows the host are the same.
        _ = try ServedURL("https://localhost.example\(tail)")
        (host, isLocal) = (name, true)
        return
      }
    }
    (host, isLocal) = (try ServedURL(text).host, false)
  }

  /// Parses the address of a folder, which gets a slash at its end.
  package init(folder text: String) throws(PackError) {
    try self.init(text.hasSuffix("/") ? text : "\(text)/")
    guard !text.contains("?") else { throw PackError(.malformedURL, of: "the URL '\(text)'", "has a query, which a folder cannot have") }
  }
}
