extension InfoPlist {
  /// The platform of the app, as far as its Info.plist says. Nil if it names none or several, as that of a target for several platforms.
  package var platform: DeviceProfile.Platform? {
    if case .array(let items) = content[key: "CFBundleSupportedPlatforms"] {
      // A name that is not known counts, so that a plist for it and for another platform is not taken for that of the other.
      let platforms = Set(items.map(Self.platform))
      return platforms.count == 1 ? platforms.first ?? nil : nil
    }
    if case .string(let name) = content[key: "DTPlatformName"] { return Self.platforms.first { $0.key.lowercased() == name }?.value }
    let isPhone = content[key: "LSRequiresIPhoneOS"] == .boolean(true)
    let isMac = content[key: "LSMinimumSystemVersion"] != nil
    return isPhone == isMac ? nil : isPhone ? .iOS : .macOS
  }

  private static func platform(_ item: PropertyList) -> DeviceProfile.Platform? {
    guard case .string(let name) = item else { return nil }
    return platforms[name]
  }

  /// The platforms as Xcode writes them.
  private static let platforms: [String: DeviceProfile.Platform] = [
    "iPhoneOS": .iOS, "iPhoneSimulator": .iOS, "MacOSX": .macOS, "AppleTVOS": .tvOS, "AppleTVSimulator": .tvOS, "XROS": .visionOS,
    "XRSimulator": .visionOS,
  ]
}

extension InfoPlist {
  /// The version of the app that players see. Nil if the Info.plist has none, or one with a variable that Xcode replaces.
  package var version: String? {
    guard case .string(let text) = content[key: "CFBundleShortVersionString"], !AppTargets.isVariable(text) else { return nil }
    return text
  }
}
