extension KeyReference {
  /// Returns the names of the variables for a key of a kind.
  package static func environmentNames(of kind: KeyKind) -> [String] {
    let suffixes = ["", "_FILE", "_COMMAND"] + (kind == .signing ? ["_SIGNER"] : [])
    return suffixes.map { kind.variable + $0 }
  }

  /// Returns the references to use if the options have none: the one of the environment, or else those of the configuration.
  ///
  /// The environment comes first, so that a build machine can provide a key that the project's configuration does not know.
  ///
  /// - Parameter configured: the references of the configuration, as `--key` takes them.
  /// - Throws: ``PackError/Code/noKey`` if neither has one.
  package static func unlessGiven(_ kind: KeyKind = .content, configured: [String]) throws(PackError) -> [KeyReference] {
    let names = environmentNames(of: kind)
    if configured.isEmpty || names.contains(where: { ProcessEnvironment.isSet($0) }) {
      return [try fromEnvironment(kind)]
    }
    return try configured.map { (text) throws(PackError) in try KeyReference(parsing: text) }
  }
}
