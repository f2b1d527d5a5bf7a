/// The import maps of a page (WHATWG HTML §8.1.5.2).
final class ImportMap {
  /// Addresses by specifiers. Specifiers that are addresses themselves are absolute, and an address that is no valid one is empty. Those of a scope
  /// have its path and a line break in front.
  private var imports: [String: String] = [:]
  /// The paths of the scopes.
  private var scopes: [String] = []
  /// Whether a map could not be read, so that nothing is known about bare specifiers.
  private(set) var isUnknown = false
  /// The addresses that start at the top of the host, as they are written.
  private(set) var absolute: [String] = []

  /// A number that no other map of the pack has.
  let number: Int

  /// - Parameter base: the path of the page, encoded.
  init(_ texts: [String], base: String, number: Int = 0) {
    self.number = number
    for text in texts {
      guard case .object(let members) = try? JSON(parsing: Array(text.utf8)) else {
        isUnknown = true
        continue
      }
      for member in members {
        guard case .object(let values) = member.value else { continue }
        if member.key == "imports" { add(values, scope: "", base: base) }
        guard member.key == "scopes" else { continue }
        for scope in values {
          guard case .object(let values) = scope.value, case .path(let path) = WebAddress(scope.key, from: base) else { continue }
          scopes.append(path)
          add(values, scope: path + "\n", base: base)
        }
      }
    }
  }

  private func add(_ values: [JSON.Member], scope: String, base: String) {
    for value in values {
      guard case .text(let text) = value.value else { continue }
      if WebAddress.isAbsolute(text) { absolute.append(text) }
      let key = scope + (Self.absolute(value.key, base: base) ?? value.key)
      // Of two maps, the first counts.
      if imports[key] == nil { imports[key] = Self.absolute(text, base: base) ?? "" }
    }
  }

  /// Returns an address in the form in which it is compared; nil for a bare specifier.
  private static func absolute(_ specifier: String, base: String) -> String? {
    guard case .path(let path) = WebAddress(specifier, from: base) else { return specifier }
    return specifier.hasPrefix("/") || specifier.hasPrefix("./") || specifier.hasPrefix("../") ? path : nil
  }

  /// Returns the address that a specifier stands for; nil if it stands for none.
  ///
  /// - Parameter module: the path of the module with the import, encoded.
  func address(of specifier: String, in module: String) -> String? {
    let own = Self.absolute(specifier, base: module)
    let key = own ?? specifier
    var best: (scope: Int, address: String)?
    for scope in scopes where (scope == module || scope.hasSuffix("/") && module.hasPrefix(scope)) && scope.utf8.count > best?.scope ?? 0 {
      if let found = find(key, in: scope + "\n") { best = (scope.utf8.count, found) }
    }
    guard let found = best?.address ?? find(key, in: "") else { return own }
    return found.isEmpty ? nil : found
  }

  private func find(_ key: String, in scope: String) -> String? {
    if let address = imports[scope + key] { return address }
    // The longest key that ends in a slash.
    let bytes = Array(key.utf8)
    var prefix = bytes[...]
    while let slash = prefix.lastIndex(of: UInt8(ascii: "/")) {
      if let address = imports[scope + String(decoding: bytes[...slash], as: UTF8.self)] {
        return address.isEmpty ? "" : address + String(decoding: bytes[(slash + 1)...], as: UTF8.self)
      }
      prefix = bytes[..<slash]
    }
    return nil
  }
}
