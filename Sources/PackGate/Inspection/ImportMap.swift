import PackBuild
import PackFormat
import PackWeb

/// The import maps of a page (WHATWG HTML §8.1.5.2).
struct ImportMap {
  /// Addresses by specifiers, with the addresses of specifiers that are addresses themselves made absolute.
  private var imports: [String: String] = [:]
  /// The same for modules below a path; the longest path first.
  private var scopes: [(path: String, imports: [String: String])] = []
  /// Whether a map could not be read, so that nothing is known about bare specifiers.
  private(set) var isUnknown = false

  /// No map.
  init() {}

  /// - Parameter base: the path of the page, encoded.
  init(_ texts: [String], base: String) {
    for text in texts {
      guard case .object(let members) = try? RecordParser.parse(Array(text.utf8)) else {
        isUnknown = true
        continue
      }
      for member in members {
        guard case .object(let values) = member.value else { continue }
        switch member.key {
        case "imports": imports.merge(Self.addresses(values, base: base)) { first, _ in first }
        case "scopes":
          for scope in values {
            guard case .object(let values) = scope.value, case .path(let path) = WebAddress(scope.key, from: base) else { continue }
            scopes.append((path, Self.addresses(values, base: base)))
          }
        default: break
        }
      }
    }
    scopes.sort { $0.path.utf8.count > $1.path.utf8.count }
  }

  private static func addresses(_ values: [RecordValue.Member], base: String) -> [String: String] {
    var addresses: [String: String] = [:]
    for value in values {
      guard case .text(let text) = value.value else { continue }
      addresses[absolute(value.key, base: base) ?? value.key] = absolute(text, base: base) ?? ""
    }
    return addresses
  }

  /// Returns an address in the form in which it is compared; nil for a bare specifier.
  static func absolute(_ specifier: String, base: String) -> String? {
    if specifier.hasPrefix("/") || specifier.hasPrefix("./") || specifier.hasPrefix("../") {
      if case .path(let path) = WebAddress(specifier, from: base) { return path }
      return specifier
    }
    // An address with a scheme.
    if case .path = WebAddress(specifier, from: base) { return nil }
    return specifier
  }

  /// Returns the address that a specifier stands for; nil if it stands for none.
  ///
  /// - Parameter module: the path of the module with the import, encoded.
  func address(of specifier: String, in module: String) -> String? {
    let own = Self.absolute(specifier, base: module)
    let key = own ?? specifier
    for scope in scopes where scope.path == module || scope.path.hasSuffix("/") && module.hasPrefix(scope.path) {
      if let found = Self.find(key, in: scope.imports) { return found.isEmpty ? nil : found }
    }
    if let found = Self.find(key, in: imports) { return found.isEmpty ? nil : found }
    return own
  }

  private static func find(_ key: String, in imports: [String: String]) -> String? {
    if let address = imports[key] { return address }
    // The longest key that ends in a slash.
    var prefix = key.utf8[...]
    while let slash = prefix.lastIndex(of: UInt8(ascii: "/")) {
      prefix = prefix[...slash]
      if let address = imports[String(Substring(prefix))] {
        return address.isEmpty ? "" : address + String(Substring(key.utf8[prefix.endIndex...]))
      }
      prefix = prefix.dropLast()
    }
    return nil
  }
}
