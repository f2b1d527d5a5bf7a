/// The purpose of a key, with its names in messages, options and the environment.
package enum KeyKind: Hashable, Sendable {
  /// It opens and makes packs (`pkk1-`).
  case content
  /// It signs manifests (`pks1-`).
  case signing
  /// It opens packs that are wrapped for its public half (`pkx1-`).
  case recipient

  /// The name in messages.
  var name: String { self == .signing ? "signing key" : "key" }
  /// The option for a key reference.
  var option: String { self == .signing ? "--sign-key" : "--key" }
  /// The variable that may contain a key. With the suffixes `_FILE` and `_COMMAND`, the variables that say where it is.
  var variable: String { self == .signing ? "PACKER_SIGN_KEY" : "PACKER_KEY" }
  /// The command that makes one.
  var making: String {
    switch self {
    case .content: making(at: "game.key")
    case .signing: making(at: "game.sign.key")
    case .recipient: making(at: "review.key")
    }
  }

  /// The command that makes one in a file.
  func making(at path: String) -> String {
    switch self {
    case .content: "packer key new -o \(ShellWord.path(path))"
    case .signing: "packer key new --signing -o \(ShellWord.path(path))"
    case .recipient: "packer key new --recipient -o \(ShellWord.path(path))"
    }
  }
}
