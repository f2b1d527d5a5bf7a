/// The files of an app and its downloader extension that must match each other.
package struct AppTargets: Sendable {
  /// The app's Info.plist.
  package var app: InfoPlist
  /// The extension's Info.plist.
  package var downloader: InfoPlist?
  /// The entitlements of app and extension.
  package var entitlements: [InfoPlist]
  /// The app's bundle identifier in the configuration.
  package var bundleID: String?

  /// Makes a value from the files that are known. Files that are not given are not checked.
  package init(app: InfoPlist, downloader: InfoPlist? = nil, entitlements: [InfoPlist] = [], bundleID: String? = nil) {
    self.app = app
    self.downloader = downloader
    self.entitlements = entitlements
    self.bundleID = bundleID
  }

  private static let identifierKey = "CFBundleIdentifier"
  static let groupsKey = "com.apple.security.application-groups"
  static let protectionKey = "com.apple.developer.default-data-protection"
  static let attributesKey = "EXAppExtensionAttributes"
  static let pointKey = "EXExtensionPointIdentifier"
  /// The extension point in Xcode's template for a downloader extension.
  static let point = "com.apple.background-asset-downloader-extension"
  /// The extension point in some templates for managed asset packs. Reported to work only for these.
  static let managedPoint = "com.apple.background-assets.content-request"

  /// Whether the text contains a variable that Xcode replaces, so that it cannot be checked.
  package static func isVariable(_ text: String) -> Bool {
    text.contains("$(") || text.contains("${")
  }

  /// Whether the text has the form of an app group: it starts with `group.`, or with a team's ten capital letters and digits and a dot.
  package static func isGroup(_ text: String) -> Bool {
    if text.hasPrefix("group."), text.utf8.count > 6 { return true }
    let team = text.prefix { $0 != "." }
    return team.utf8.count == 10 && team.count < text.count && team.allSatisfy { $0.isASCII && ($0.isUppercase || $0.isNumber) }
  }

  /// What does not match.
  package struct Fault: Sendable {
    /// The path of the file, as the caller gave it.
    package let file: String
    /// A sentence that names the key.
    package let message: String
    package var isWarning = false
    package var hint: String?
  }

  /// Returns what does not match between the files.
  ///
  /// - Parameter hosting: how the packs are hosted.
  package func faults(hosting: PackerConfiguration.Hosting) -> [Fault] {
    (downloader.map { faults(of: $0, hosting: hosting) } ?? []) + entitlements.flatMap { faults(entitlements: $0, hosting: hosting) }
  }

  /// Returns the text, or nil if the value is not a string or contains a variable.
  private func text(_ value: PropertyList?) -> String? {
    guard case .string(let text)? = value, !Self.isVariable(text) else { return nil }
    return text
  }

  private func faults(of downloader: InfoPlist, hosting: PackerConfiguration.Hosting) -> [Fault] {
    var faults: [Fault] = []
    func add(_ message: String, isWarning: Bool = false, hint: String? = nil) {
      faults.append(Fault(file: downloader.path, message: message, isWarning: isWarning, hint: hint))
    }
    let pointPath = "\(Self.attributesKey).\(Self.pointKey)"
    switch downloader.content[key: Self.attributesKey]?[key: Self.pointKey] {
    case .string(Self.point):
      break
    case .string(Self.managedPoint) where hosting != .unmanaged:
      break
    case let other:
      add(
        "\(pointPath) \(other.map { "is \($0)" } ?? "is missing"), but it must be '\(Self.point)'",
        hint: "App Store Connect refuses other extension points")
    }
    switch downloader.content[key: Self.identifierKey] {
    case .string(let identifier):
      let parent = text(app.content[key: Self.identifierKey]) ?? bundleID
      if let parent, !Self.isVariable(identifier), !identifier.hasPrefix(parent + ".") {
        add("\(Self.identifierKey) is '\(identifier)', but it must start with '\(parent).'")
      }
    case let other:
      add(
        "\(Self.identifierKey) \(other.map { "is \($0)" } ?? "is missing")",
        hint: "write <string>$(PRODUCT_BUNDLE_IDENTIFIER)</string>; without it the upload fails as if the prefix were wrong")
    }
    for key in (downloader.keys.propertyList.members ?? []).map(\.key) where key != BackgroundAssetsKey.appGroupIdentifier {
      add("\(key) is in the extension's Info.plist, but the system reads it in the app's", isWarning: true)
    }
    if let group = downloader.keys.appGroupIdentifier, let other = app.keys.appGroupIdentifier, group != other {
      add("\(BackgroundAssetsKey.appGroupIdentifier) is '\(group)', but '\(other)' in \(app.path)")
    }
    return faults
  }

  /// Why a default class of data protection does not fit an app with packs; nil if it does.
  package static func problem(ofProtection name: String) -> String? {
    guard ["NSFileProtectionComplete", "NSFileProtectionCompleteUnlessOpen"].contains(name) else { return nil }
    return "\(protectionKey) is \(name), so files of the app cannot be opened while the phone is locked"
  }

  /// The hint for ``problem(ofProtection:)``.
  package static let protectionHint =
    "remove the capability Data Protection from app and extension, and set the class of files that need it in the code"

  private func faults(entitlements: InfoPlist, hosting: PackerConfiguration.Hosting) -> [Fault] {
    var faults = groupFaults(entitlements: entitlements, hosting: hosting)
    if let problem = text(entitlements.content[key: Self.protectionKey]).flatMap(Self.problem) {
      faults.append(Fault(file: entitlements.path, message: problem, isWarning: true, hint: Self.protectionHint))
    }
    return faults
  }

  private func groupFaults(entitlements: InfoPlist, hosting: PackerConfiguration.Hosting) -> [Fault] {
    guard case .array(let items)? = entitlements.content[key: Self.groupsKey], !items.isEmpty else {
      return [
        Fault(
          file: entitlements.path, message: "\(Self.groupsKey) names no app group; app and extension need one to share the packs",
          hint: "add the capability App Groups to both targets in Xcode")
      ]
    }
    let groups = items.compactMap { item -> String? in
      guard case .string(let text) = item else { return nil }
      return text
    }
    let key = hosting == .unmanaged ? BackgroundAssetsKey.appGroupIdentifier : BackgroundAssetsKey.appGroupID
    let wanted = hosting == .unmanaged ? app.keys.appGroupIdentifier : app.keys.appGroupID
    guard let wanted, !Self.isVariable(wanted), !groups.contains(where: Self.isVariable), !groups.contains(wanted) else { return [] }
    let shown = groups.map { "'\($0)'" }.joined(separator: ", ")
    return [
      Fault(file: entitlements.path, message: "\(Self.groupsKey) holds \(shown), but not '\(wanted)', the \(key) in \(app.path)")
    ]
  }
}
