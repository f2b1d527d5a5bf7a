import Foundation
import TestSupport
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
    "a pack that states no other languages is refused if its language is not close to one of the user's",
    arguments: [
      ("de", ["en"]), ("zh-Hant", ["zh-Hans-CN"]), ("zh-Hans", ["zh-TW"]), ("zh", ["zh-HK"]), ("sr-Cyrl", ["sr-Latn-RS"]), ("d", ["de"]),
      ("de", ["d", "den", ""]), ("de", []), ("de", ["en", "fr-CH"]), ("", ["de"]),
    ])
  func otherLanguage(tag: String, languages: [String]) {
    #expect(!DeviceProfile(platform: nil, languages: languages).accepts(pack(language: tag)))
  }

  @Test(
    "a pack that states no other languages is for users of its language in another region, and of others besides",
    arguments: [
      ("de", ["de"]), ("pt", ["pt-BR"]), ("pt-BR", ["pt"]), ("pt-BR", ["en-US", "pt-PT"]), ("en-US", ["en-GB"]),
      ("zh-Hant", ["en", "zh-TW"]),
      ("de", ["fr-CH", "de-CH"]), ("DE", ["de-ch"]), ("pt-BR", ["pt_BR"]), ("sl", ["sl-rozaj-biske-1994"]), ("sr", ["sr-Latn"]),
    ])
  func ownLanguage(tag: String, languages: [String]) {
    #expect(DeviceProfile(platform: nil, languages: languages).accepts(pack(language: tag)))
  }

  @Test("of a group a device takes the pack that the second implementation names, and no other")
  func choices() throws {
    let file = TestVector.folder.appendingPathComponent("manifest/languages.txt")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    #expect(lines.count > 400)
    var taken = 0
    for line in lines {
      let fields = line.split(separator: " ").map { $0 == "-" ? [] : $0.split(separator: ",").map(String.init) }
      let device = DeviceProfile(platform: nil, languages: fields[0])
      let accepted = fields[1].filter { language in
        var pack = pack(language: language)
        pack.languages = fields[1].count > 1 ? fields[1] : []
        pack.fallbackLanguage = fields[2].first
        return device.accepts(pack)
      }
      #expect(accepted == fields[3], "\(line)")
      taken += accepted.count
    }
    #expect((200..<lines.count).contains(taken))
  }

  @Test("a device takes packs of all languages if it says none, and no fallback if its user has none")
  func withoutLanguages() {
    for language in ["de", "en"] {
      var pack = pack(language: language)
      pack.languages = ["de", "en"]
      pack.fallbackLanguage = "en"
      #expect(DeviceProfile.any.accepts(pack))
      #expect(!DeviceProfile(platform: nil, languages: []).accepts(pack))
    }
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
