package import PackFormat

extension KeyReference {
  /// The variables that may name a key of a kind.
  package static func environmentNames(of kind: KeyKind) -> [String] {
    [kind.variable, kind.variable + "_FILE", kind.variable + "_COMMAND"]
  }

  /// The reference to use where the options name none: what the environment says, else what the configuration says.
  ///
  /// The environment comes first: it is how a build machine gives the key that a project's own file cannot know.
  ///
  /// - Parameter configured: the references of the configuration, as `--key` takes them.
  /// - Throws: ``PackError/Code/noKey`` where neither names one.
  package static func unlessGiven(_ kind: KeyKind = .content, configured: [String]) throws(PackError) -> [KeyReference] {
    let names = environmentNames(of: kind)
    if configured.isEmpty || names.contains(where: { ProcessEnvironment.isSet($0) }) {
      return [try fromEnvironment(kind)]
    }
    return try configured.map { (text) throws(PackError) in try KeyReference(parsing: text) }
  }
}
