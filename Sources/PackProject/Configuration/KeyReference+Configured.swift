extension KeyReference {
  /// Returns the names of the variables for a key of a kind.
  package static func environmentNames(of kind: KeyKind) -> [String] {
    let suffixes = ["", "_FILE", "_COMMAND"] + (kind == .signing ? ["_SIGNER"] : [])
    return suffixes.map { kind.variable + $0 }
  }

  /// Whether reading the key, or signing with it, starts a program.
  var hasProgram: Bool {
    switch place {
    case .command, .signer: true
    default: false
    }
  }

  /// Returns the references to use if the options have none: the one of the environment, or else those of the configuration.
  ///
  /// The environment comes first, so that a build machine can provide a key that the project's configuration does not know.
  ///
  /// - Parameters:
  ///   - use: which programs of the configuration are started.
  ///   - signs: whether signing keys sign. The public half of a signer's is in its text.
  /// - Throws: ``PackError/Code/noKey`` if neither has one, or that of the configuration needs a program and none is started;
  ///   ``PackError/Code/untrustedProgram``.
  package static func unlessGiven(
    _ kind: KeyKind = .content, of configuration: PackerConfiguration?, starting use: ProgramUse, signs: Bool = true
  ) throws(PackError) -> [KeyReference] {
    let isSet = environmentNames(of: kind).contains { ProcessEnvironment.isSet($0) }
    let texts = kind == .signing ? configuration?.signKeys ?? [] : [configuration?.key].compactMap(\.self)
    guard let configuration, !texts.isEmpty, !isSet else { return [try fromEnvironment(kind)] }
    return try texts.map { (text) throws(PackError) in
      let reference = try KeyReference(parsing: text)
      if case .signer = reference.place, !signs { return reference }
      if reference.hasProgram {
        try configuration.checkProgram(
          kind == .signing ? "signKey" : "key", for: use, else: .noKey,
          other: "give the \(kind.name) with \(kind.option), or the program with \(kind.variable)_COMMAND='PROGRAM ARG…'")
      }
      return reference
    }
  }
}
