/// How hints name the settings of a pack: as options of the command line, or as keys of a configuration.
package enum SettingWords: Hashable, Sendable {
  case options
  /// - Parameter file: the name of the configuration.
  case keys(file: String)

  /// The setting that excludes a path.
  var exclude: String {
    switch self {
    case .options: "--exclude"
    case .keys(let file): "'exclude' in \(file)"
    }
  }

  /// The setting that packs files that may be secrets.
  var allowSecrets: String {
    switch self {
    case .options: "--allow-secret RULE:PATH, with the rule in parentheses"
    case .keys: "an entry under 'allowSecrets'"
    }
  }

  /// The setting that packs the targets of symbolic links.
  var followSymlinks: String {
    switch self {
    case .options: "--follow-symlinks"
    case .keys: "'followSymlinks: true'"
    }
  }

  /// The setting that packs names that some platforms do not support.
  var allowUnportablePaths: String {
    switch self {
    case .options: "--allow-unportable-paths"
    case .keys: "'allowUnportablePaths: true'"
    }
  }

  /// What to do about a tree with too many frames.
  package var fewerFrames: String {
    switch self {
    case .options: "choose a larger --frame-size, or split the tree into several packs"
    case .keys: "split the tree into several packs"
    }
  }
}
