/// What decides which packs of a manifest are for a device: its platform, and the languages of its user.
public struct DeviceProfile: Hashable, Sendable {
  /// A platform, as `platforms` of a pack names it. iOS includes iPadOS and Mac Catalyst.
  public enum Platform: String, Hashable, Sendable, CaseIterable {
    case iOS, macOS, tvOS, visionOS

    /// The platform that this code is compiled for. Nil on others.
    public static var current: Platform? {
      #if os(iOS)
        .iOS
      #elseif os(macOS)
        .macOS
      #elseif os(tvOS)
        .tvOS
      #elseif os(visionOS)
        .visionOS
      #else
        nil
      #endif
    }
  }

  /// The platform. If nil, packs of all platforms are for the device.
  public var platform: Platform?
  /// The languages of the user as BCP 47 tags, such as `pt-BR`, the preferred one first. If nil, packs of all languages are for the device; if empty, only
  /// packs without a language.
  public var languages: [String]?

  /// Creates a profile.
  public init(platform: Platform?, languages: [String]?) {
    self.platform = platform
    self.languages = languages
  }

  /// The profile that accepts every pack.
  public static let any = DeviceProfile(platform: nil, languages: nil)

  /// Returns whether a pack is for this device: it is for its platform, and it has no language, or the one that this device takes of the languages of its group
  /// (FORMAT.md §9.8).
  ///
  /// Depends on nothing but the pack's entry, so that app and extension decide the same, whatever they know of the catalogue.
  public func accepts(_ pack: ManifestPack) -> Bool {
    if let platform, !pack.platforms.isEmpty, !pack.platforms.contains(platform.rawValue) { return false }
    guard let own = pack.language, let languages else { return true }
    guard let first = languages.first else { return false }
    // Most packs of a device are in the first of its languages.
    if own == first { return true }
    let closest = LanguageTag.closest(of: pack.languages.isEmpty ? [own] : pack.languages, to: languages)
    return own == closest ?? pack.fallbackLanguage
  }
}

extension DeviceProfile.Platform {
  /// Groups the platforms by the packs that are for them. One group if the packs are the same on all platforms.
  package static func groups(of packs: [ManifestPack]) -> [(platforms: [DeviceProfile.Platform], packs: [ManifestPack])] {
    guard !packs.allSatisfy({ $0.platforms.isEmpty }) else { return [(allCases, packs)] }
    var groups: [(platforms: [DeviceProfile.Platform], packs: [ManifestPack])] = []
    for platform in allCases {
      let device = DeviceProfile(platform: platform, languages: nil)
      let own = packs.filter(device.accepts)
      if let index = groups.firstIndex(where: { $0.packs == own }) {
        groups[index].platforms.append(platform)
      } else {
        groups.append(([platform], own))
      }
    }
    return groups
  }
}
