/// One of the files that an app and its downloader extension need for a release.
package enum AppPart: String, Hashable, Sendable, CaseIterable {
  /// The keys for the app's Info.plist.
  case app
  /// The Info.plist of the downloader extension.
  case `extension`
  /// The entitlements of app and extension, which share an app group.
  case entitlements

  /// Returns the part as an XML property list. The app's part is a fragment to merge, the other parts are complete files.
  ///
  /// - Throws: ``PackError/Code/invalidConfiguration`` for entitlements of an app without an app group.
  package func bytes(for keys: BackgroundAssetsKeys) throws(PackError) -> [UInt8] {
    switch self {
    case .app: try InfoPlist.fragment(of: keys)
    case .extension: try Self.extensionPlist(keys).bytes(as: .xml)
    case .entitlements: try Self.entitlements(keys).bytes(as: .xml)
    }
  }

  /// The contents of Xcode's template, with its variables, and the app group that the extension shares with the app.
  private static func extensionPlist(_ keys: BackgroundAssetsKeys) -> PropertyList {
    var members: [PropertyList.Member] = [
      .init("CFBundleDevelopmentRegion", .string("$(DEVELOPMENT_LANGUAGE)")),
      .init("CFBundleExecutable", .string("$(EXECUTABLE_NAME)")),
      .init("CFBundleIdentifier", .string("$(PRODUCT_BUNDLE_IDENTIFIER)")),
      .init("CFBundleInfoDictionaryVersion", .string("6.0")),
      .init("CFBundleName", .string("$(PRODUCT_NAME)")),
      .init("CFBundlePackageType", .string("$(PRODUCT_BUNDLE_PACKAGE_TYPE)")),
      .init("CFBundleShortVersionString", .string("$(MARKETING_VERSION)")),
      .init("CFBundleVersion", .string("$(CURRENT_PROJECT_VERSION)")),
      .init(AppTargets.attributesKey, .dictionary([.init(AppTargets.pointKey, .string(AppTargets.point))])),
    ]
    if let group = keys.appGroupIdentifier { members.append(.init(BackgroundAssetsKey.appGroupIdentifier, .string(group))) }
    return .dictionary(members.sorted())
  }

  private static func entitlements(_ keys: BackgroundAssetsKeys) throws(PackError) -> PropertyList {
    guard let group = keys.appGroupID ?? keys.appGroupIdentifier else {
      throw PackError(
        .invalidConfiguration, "the release names no app group; app and extension need one to share the packs",
        hint: "set it in packer.yml, as in 'app: {group: group.com.example.arcade}', and build again")
    }
    return .dictionary([.init(AppTargets.groupsKey, .array([.string(group)]))])
  }
}
