/// The purpose of a key, with its names in messages, options and the environment.
package enum KeyKind: Hashable, Sendable {
  /// It opens and makes packs (`pkk1-`).
  case content
  /// It signs manifests (`pks1-`).
  case signing
  /// It opens packs that are wrapped for its public half (`pkx1-`).
  case recipient
  /// It signs keys documents (`pkt1-`).
  case root

  /// The name in messages.
  var name: String {
    switch self {
    case .content, .recipient: "key"
    case .signing: "signing key"
    case .root: "root signing key"
    }
  }

  /// The option for a key reference.
  var option: String {
    switch self {
    case .content, .recipient: "--key"
    case .signing: "--sign-key"
    case .root: "--root-sign-key"
    }
  }

  /// The variable that may contain a key. With the suffixes `_FILE` and `_COMMAND`, the variables that say where it is.
  package var variable: String {
    switch self {
    case .content, .recipient: "PACKER_KEY"
    case .signing: "PACKER_SIGN_KEY"
    case .root: "PACKER_ROOT_SIGN_KEY"
    }
  }

  /// The command that makes one.
  var making: String {
    switch self {
    case .content: making(at: "game.key")
    case .signing: making(at: "game.sign.key")
    case .recipient: making(at: "review.key")
    case .root: making(at: "root-1.key")
    }
  }

  /// The command that makes one in a file.
  func making(at path: String) -> String {
    let flag =
      switch self {
      case .content: ""
      case .signing: "--signing "
      case .root: "--root-signing "
      case .recipient: "--recipient "
      }
    return "packer key new \(flag)-o \(ShellWord.path(path))"
  }
}
