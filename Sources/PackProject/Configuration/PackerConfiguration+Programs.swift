/// Which of the programs that a configuration names a command starts. The file may be somebody else's, as in a pull request.
package enum ProgramUse: Sendable {
  /// None: the command only looks.
  case none
  /// Those that the environment trusts.
  case trusted
}

extension PackerConfiguration {
  /// The variable with the digests of trusted programs.
  package static let trustVariable = "PACKER_TRUSTED_PROGRAMS"

  /// Whether using a place starts a program of its text: a command, or a remote of rclone with options of its own, such as `bearer_token_command`.
  package static func startsProgram(_ place: String) -> Bool {
    guard !isDirectory(place) else { return false }
    return place.hasPrefix("cmd:") || place.drop { $0 == ":" }.first { $0 == ":" || $0 == "," } == ","
  }

  /// The values that start programs, with their keys in the file.
  private var programs: [(key: String, text: String)] {
    let references = [("key", key)] + signKeys.map { ("signKey", $0) }
    let places = [("cache", cache), ("publish", publish.place)]
    return references.compactMap { name, text in text.flatMap { (try? KeyReference(parsing: $0))?.hasProgram == true ? (name, $0) : nil } }
      + places.compactMap { name, text in text.flatMap { Self.startsProgram($0) ? (name, $0) : nil } }
  }

  /// Returns a digest of all values that start programs, 32 hexadecimal digits. It changes if one of them does.
  package func programDigest() throws(PackError) -> String {
    let text = programs.map { "\($0.key) \($0.text.utf8.count) \($0.text)\n" }.joined()
    return String(try CryptoBackends.standard.digest(of: Array(text.utf8).byteSpan).hex.prefix(32))
  }

  /// Throws unless a command may start a program that this configuration names.
  ///
  /// - Parameters:
  ///   - name: the key of the value in the file.
  ///   - code: the code of the error if the command starts none.
  ///   - other: how to name the program otherwise, as a hint. What options and variables name is trusted.
  package func checkProgram(_ name: String, for use: ProgramUse, else code: PackError.Code, other: String) throws(PackError) {
    guard use == .trusted else {
      throw PackError(code, of: path, "names a program with '\(name)', and a command that only looks does not start it", hint: other)
    }
    let digest = try programDigest()
    let trusted = ProcessEnvironment.text(of: Self.trustVariable) ?? ""
    guard !trusted.split(whereSeparator: { $0 == " " || $0 == "," }).contains(digest[...]) else { return }
    var names: [String] = []
    for program in programs where !names.contains(program.key) { names.append(program.key) }
    throw PackError(
      .untrustedProgram, of: path, "names a program with '\(name)', and it is not trusted",
      hint: """
        read what it has under '\(names.joined(separator: "' and '"))'; to trust that: export \(Self.trustVariable)=\(digest)
        or \(other)
        """)
  }
}

extension PackError.Code {
  /// A configuration names a program that is not trusted.
  package static let untrustedProgram = Self(rawValue: "untrusted-program")
}
