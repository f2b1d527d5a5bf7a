/// The purpose of a key, with its names in messages, options and the environment.
package enum KeyKind: Hashable, Sendable {
  /// It opens and makes packs (`pkk1-`).
  case content
  /// It signs manifests (`pks1-`).
  case signing

  /// The name in messages.
  var name: String { self == .content ? "key" : "signing key" }
  /// The option for a key reference.
  var option: String { self == .content ? "--key" : "--sign-key" }
  /// The variable that may contain a key. With the suffixes `_FILE` and `_COMMAND`, the variables that say where it is.
  var variable: String { self == .content ? "PACKER_KEY" : "PACKER_SIGN_KEY" }
  /// The command that makes one.
  var making: String { making(at: self == .content ? "game.key" : "game.sign.key") }

  /// The command that makes one in a file.
  func making(at path: String) -> String {
    (self == .content ? "packer key new -o " : "packer key new --signing -o ") + ShellWord.path(path)
  }
}
