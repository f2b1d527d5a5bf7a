import PackProject

/// The values that differ between the projects of two releases.
struct AppValues {
  /// The name of the app, of letters and digits.
  let name: String
  let bundleID: String
  let group: String
  let hosting: PackerConfiguration.Hosting
  let package: AppProject.Package
  /// The release that debug builds contain, relative to the project; nil if the system delivers the packs.
  let release: String?
  /// The public keys that may sign the manifest.
  let trusted: [String]
  /// The names of the packs, and those for people.
  let packs: [(id: String, name: String)]

  /// Returns a name for the app: the last part of its bundle identifier as one word.
  static func name(ofBundle identifier: String) -> String {
    let words = (identifier.split(separator: ".").last ?? "").split(separator: "-")
    let name = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    return name.first?.isLetter == true ? name : "App" + name
  }

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
