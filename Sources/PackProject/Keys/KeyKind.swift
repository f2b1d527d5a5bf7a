/// What a key is for: its words in messages, and where it is looked for.
package enum KeyKind: Hashable, Sendable {
  /// It opens and makes packs (`pkk1-`).
  case content
  /// It signs manifests (`pks1-`).
  case signing

  /// The name in messages.
  var name: String { self == .content ? "key" : "signing key" }
  /// The option that names one.
  var option: String { self == .content ? "--key" : "--sign-key" }
  /// The variable that may hold one; with `_FILE` and `_COMMAND` behind it, those that say where it is.
  var variable: String { self == .content ? "PACKER_KEY" : "PACKER_SIGN_KEY" }
  /// The command that makes one.
  var making: String { making(at: self == .content ? "game.key" : "game.sign.key") }

  /// The command that makes one in a file.
  func making(at path: String) -> String {
    (self == .content ? "packer key new -o " : "packer key new --signing -o ") + ShellWord.path(path)
  }
}
