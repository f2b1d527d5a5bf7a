/// The arguments of a verb in the plainest form: paths, and a key.
///
/// The argument parser takes a millisecond to get ready, a fifth of what it takes to list a small pack. What is written plainly does not
/// need it. Everything else, and everything wrong, is the parser's.
struct PlainArguments {
  let paths: [String]
  let key: KeyOptions

  /// - Returns: nil where anything but paths and one `--key REF` is among the arguments.
  init?(_ arguments: [String]) {
    var paths: [String] = []
    var references: [String] = []
    var isKeyNext = false
    for argument in arguments {
      if argument == "--key", !isKeyNext {
        isKeyNext = true
        continue
      }
      guard !argument.isEmpty, !argument.utf8.starts(with: "-".utf8) else { return nil }
      if isKeyNext { references.append(argument) } else { paths.append(argument) }
      isKeyNext = false
    }
    guard !isKeyNext, references.count <= 1 else { return nil }
    self.paths = paths
    var key = KeyOptions()
    key.references = references
    self.key = key
  }
}
