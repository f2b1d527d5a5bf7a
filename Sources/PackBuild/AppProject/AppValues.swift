/// The values that differ between the projects of two releases.
struct AppValues {
  /// The name of the app, of letters and digits.
  let name: String
  let bundleID: String
  let hosting: PackerConfiguration.Hosting
  let package: AppProject.Package
  /// The release, relative to the project. Debug builds contain it; all builds contain its manifest if the system manages the packs.
  let release: String
  /// The public keys that may sign the manifest.
  let trusted: [String]
  /// The file with the key of the packs, relative to the project and as a word of a shell; nil if the configuration names none.
  let keyFile: String?
  /// Whether that key is a root key.
  let hasRootKey: Bool

  /// The command that makes the Xcode project.
  var command: String { keyFile.map { "PACKER_KEY=$(cat \($0)) xcodegen" } ?? "xcodegen" }

  /// Returns a name for the app: the last part of its bundle identifier as one word.
  static func name(ofBundle identifier: String) -> String {
    let words = (identifier.split(separator: ".").last ?? "").split(separator: "-")
    // File systems allow 255 bytes, to which Xcode adds extensions.
    let name = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined().prefix(64)
    guard name.first?.isLetter == true else { return "App" + name }
    let lower = name.lowercased()
    // File systems ignore case. Products of the package start with Pack.
    guard !taken.contains(lower), !lower.hasPrefix("pack") else { return lower == "app" ? "MainApp" : name + "App" }
    return String(name)
  }

  /// The names of the other target, of folders of the project, and of modules that the code imports.
  private static let taken: Set<String> = [
    "app", "apptarget", "backgroundassets", "combine", "downloader", "extensionfoundation", "foundation", "shared", "storekit", "swift",
    "swiftui", "uikit", "webkit",
  ]

  /// The oldest system that has what the app uses.
  var deploymentTarget: String { hosting == .unmanaged ? "16.4" : "26.0" }

  /// Returns a text as a literal in Swift.
  static func literal(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\"": "\\\""
      case "\\": "\\\\"
      case _ where scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value): "\\u{\(String(scalar.value, radix: 16))}"
      default: String(scalar)
      }
    }
    return "\"\(escaped.joined())\""
  }
}
