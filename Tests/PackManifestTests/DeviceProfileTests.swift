import Testing

@Suite("Which packs are for a device")
struct DeviceProfileTests {
  private func pack(platforms: [String] = [], language: String? = nil) -> ManifestPack {
    var pack = ManifestPack.sample()
    pack.platforms = platforms
    pack.language = language
    return pack
  }

  @Test(
    "a language that is not the user's is refused",
    arguments: [
      ("de", ["en"]), ("pt-BR", ["pt"]), ("pt-BR", ["pt-PT", "en-US"]), ("zh-Hant", ["zh-Hans-CN"]), ("d", ["de"]),
      ("de", ["d", "den", ""]),
      ("de", []), ("en-GB", ["en", "en-US"]), ("de-DE", ["de-AT"]), ("DE-de", ["de"]),
    ])
  func otherLanguage(tag: String, languages: [String]) {
    #expect(!DeviceProfile(platform: nil, languages: languages).accepts(pack(language: tag)))
  }

  @Test(
    "one of the user's languages finds a tag, or what is left of it when it is shortened",
    arguments: [
      ("de", ["de"]), ("pt", ["pt-BR"]), ("zh-Hant", ["en", "zh-Hant-TW"]), ("de", ["fr-CH", "de-CH"]), ("DE", ["de-ch"]),
      ("pt-BR", ["pt_BR"]),
      ("pt-BR", ["pt-br"]), ("sl", ["sl-rozaj-biske-1994"]),
    ])
  func ownLanguage(tag: String, languages: [String]) {
    #expect(DeviceProfile(platform: nil, languages: languages).accepts(pack(language: tag)))
  }

  @Test("a pack for other platforms is refused, whatever its language")
  func otherPlatform() {
    let phone = DeviceProfile(platform: .iOS, languages: ["de"])
    #expect(!phone.accepts(pack(platforms: ["macOS"])))
    #expect(!phone.accepts(pack(platforms: ["macOS", "tvOS"], language: "de")))
    #expect(!phone.accepts(pack(platforms: ["watchOS"])))
    #expect(!phone.accepts(pack(platforms: ["iOS"], language: "en")))
    #expect(phone.accepts(pack(platforms: ["iOS", "macOS"], language: "de")))
  }

  @Test("a pack without platforms and language is for every device, and a device without them takes every pack")
  func everything() {
    for platform in DeviceProfile.Platform.allCases {
      #expect(DeviceProfile(platform: platform, languages: []).accepts(pack()))
      #expect(DeviceProfile.any.accepts(pack(platforms: [platform.rawValue], language: "de")))
    }
    #expect(!DeviceProfile(platform: .iOS, languages: nil).accepts(pack(platforms: ["macOS"], language: "de")))
  }

  @Test("platforms with the same packs are one group")
  func groups() {
    let (all, mac, phone) = (pack(), pack(platforms: ["macOS"]), pack(platforms: ["iOS", "macOS", "tvOS", "visionOS"]))
    #expect(DeviceProfile.Platform.groups(of: []).map(\.platforms) == [DeviceProfile.Platform.allCases])
    #expect(DeviceProfile.Platform.groups(of: [all, phone]).map(\.platforms) == [DeviceProfile.Platform.allCases])
    let groups = DeviceProfile.Platform.groups(of: [all, mac])
    #expect(groups.map(\.platforms) == [[.iOS, .tvOS, .visionOS], [.macOS]])
    #expect(groups.map(\.packs) == [[all], [all, mac]])
  }
}
