/// An app as Xcode built it: an `.ipa`, an `.xcarchive` or an `.app` directory. Nothing in it is written or unpacked to a disk.
package struct BuiltApp: Sendable {
  /// Its path, as the caller gave it.
  package var path: String
  /// The app.
  package var bundle: Bundle
  /// The extensions in it, in the order of their places.
  package var extensions: [Bundle]
  /// The files that hold or are named like secrets, in the order of their places.
  package var secrets: [Secret]
  /// The packs in it, in the order of their places.
  package var packs: [EmbeddedPack]
  /// The number of files that were searched for secrets.
  package var searched: Int
  /// The number of files that were not, because they are too large.
  package var unsearched: Int

  /// The app, or an extension in it.
  package struct Bundle: Sendable {
    /// Where it is in the app's path; empty if it is the path itself.
    package var place: String
    /// Its Info.plist.
    package var plist: InfoPlist
    /// Where that is in the app's path.
    package var plistPlace: String
    /// What is known of its entitlements.
    package var groups: Groups
    /// The class of data protection that its entitlements name as the default of its files; nil if they name none or are not known.
    package var protection: String?

    /// Its bundle identifier; nil if it has none.
    package var identifier: String? { text("CFBundleIdentifier") }

    /// Its extension point; nil if it is no extension.
    package var extensionPoint: String? {
      let attributes = plist.content[key: AppTargets.attributesKey]?[key: AppTargets.pointKey]
      let older = plist.content[key: "NSExtension"]?[key: "NSExtensionPointIdentifier"]
      guard case .string(let text)? = attributes ?? older else { return nil }
      return text
    }

    /// Whether it is a downloader extension for Background Assets.
    ///
    /// - Parameter isManaged: whether the app has managed asset packs.
    package func isDownloader(isManaged: Bool) -> Bool {
      extensionPoint == AppTargets.point || isManaged && extensionPoint == AppTargets.managedPoint
    }

    func text(_ key: String) -> String? {
      guard case .string(let text)? = plist.content[key: key], !text.isEmpty else { return nil }
      return text
    }
  }

  /// The app groups in the entitlements of a code signature.
  package enum Groups: Hashable, Sendable {
    case known([String])
    /// The executable is not signed, or only by the linker, so that it has no entitlements yet.
    case unsigned
    /// The reason why they are not known, which continues a sentence about the bundle.
    case unreadable(String)

    /// The groups, if they are known.
    package var names: [String]? {
      guard case .known(let names) = self else { return nil }
      return names
    }
  }

  /// A file of the app that holds a secret.
  package struct Secret: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
      /// A key of packer that signs manifests.
      case signingKey
      /// Keys of packer that open packs, with their ids.
      case contentKeys([String])
      /// Another secret, with what its name or its content shows.
      case other(String)
    }

    /// Where the file is in the app's path.
    package var place: String
    package var kind: Kind
  }

  /// A pack among the files of the app.
  package struct EmbeddedPack: Hashable, Sendable {
    /// Where it is in the app's path.
    package var place: String
    package var size: UInt64
    package var sha256: [UInt8]
  }

  /// The version that players see; nil if the Info.plist has none.
  package var version: String? { bundle.text("CFBundleShortVersionString") }

  /// Whether it was built for a simulator, so that no player can have it.
  package var isForSimulator: Bool {
    guard case .array(let items)? = bundle.plist.content[key: "CFBundleSupportedPlatforms"] else {
      return bundle.text("DTPlatformName")?.hasSuffix("simulator") == true
    }
    return !items.isEmpty
      && items.allSatisfy { item in
        guard case .string(let name) = item else { return false }
        return name.hasSuffix("Simulator")
      }
  }

  /// The path, and what was read there.
  package var title: String { "\(path): \(bundle.plistPlace)" }

  /// The forms that a built app has.
  enum Form: String, CaseIterable {
    case ipa = ".ipa"
    case archive = ".xcarchive"
    case app = ".app"

    init?(_ path: String) {
      var name = path.lowercased()
      while name.utf8.count > 1, name.hasSuffix("/") { name.removeLast() }
      guard let form = Self.allCases.first(where: { name.hasSuffix($0.rawValue) }) else { return nil }
      self = form
    }
  }

  /// Whether a text is the path of a built app and not, for example, a version. The file need not exist.
  package static func isPath(_ text: String) -> Bool { Form(text) != nil }
}

extension PackError.Code {
  /// A built app cannot be read: its archive is damaged, or what is in it is no app.
  package static let unreadableApp = Self(rawValue: "unreadable-app")
}
