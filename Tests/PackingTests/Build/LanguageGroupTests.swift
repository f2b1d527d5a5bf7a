import TestSupport
import Testing

@testable import PackBuild
@testable import PackGate
@testable import PackProject

@Suite("Packs that differ only in their language", .bounded)
struct LanguageGroupTests {
  private func pack(
    _ id: String, _ language: String?, _ delivery: DeliveryClass = .prefetch, platforms: [String] = []
  ) throws(PackError) -> ManifestPack {
    var pack = GateSample.entry(id, delivery, .unpacked, size: 1, content: 1, installed: 1, seed: 1)
    (pack.language, pack.platforms) = (language, platforms)
    return pack
  }

  private func names(_ packs: [ManifestPack]) -> [String] {
    LanguageGroup.groups(of: packs).map { "\($0.name): \($0.packs.map(\.id).joined(separator: " "))" }
  }

  @Test("packs are no group if their ids, delivery or platforms differ, or if they have no language")
  func apart() throws {
    #expect(names([try pack("core", nil), try pack("voices-de", nil)]) == [])
    #expect(
      names([try pack("voices-de", "de"), try pack("texts-de", "de"), try pack("german", "de")])
        == ["voices-*: voices-de", "texts-*: texts-de", "german: german"])
    #expect(names([try pack("voices-de", "de"), try pack("voices-en", "en", .onDemand)]).count == 2)
    #expect(names([try pack("voices-de", "de"), try pack("voices-en", "en", platforms: ["iOS"])]).count == 2)
    // The letters of a language are no language inside of a word.
    #expect(names([try pack("garden", "de"), try pack("garden-de", "de"), try pack("garen", "en")]).count == 3)
  }

  @Test("a group has the packs whose ids differ in the language, however it is written and wherever it stands")
  func together() throws {
    let packs = [
      try pack("voices-de", "de"), try pack("core", nil), try pack("voices-en-US", "en-US"), try pack("Voices-pt_br", "pt-BR"),
      try pack("voices-zh-Hant", "zh-Hant", platforms: []),
    ]
    #expect(names(packs) == ["voices-*: voices-de voices-en-US Voices-pt_br voices-zh-Hant"])
    #expect(names([try pack("de.songs", "de"), try pack("fr.songs", "fr")]) == ["*.songs: de.songs fr.songs"])
    let (left, right) = (try pack("a-de", "de", platforms: ["iOS", "tvOS"]), try pack("a-en", "en", platforms: ["tvOS", "iOS"]))
    #expect(names([left, right]) == ["a-*: a-de a-en"])
  }

  @Test("the fallback is the closest of the group; a group that has none close, and a pack without language, get none")
  func completing() throws {
    var packs = [
      try pack("voices-en-US", "en-US"), try pack("voices-de", "de"), try pack("core", nil), try pack("songs-en", "en"),
      try pack("texts-fr", "fr"), try pack("texts-it", "it"),
    ]
    LanguageGroup.complete(&packs, fallback: "en-GB")
    #expect(packs.map(\.fallbackLanguage) == ["en-US", "en-US", nil, "en", nil, nil])
    #expect(packs.map(\.languages) == [["de", "en-US"], ["de", "en-US"], [], [], ["fr", "it"], ["fr", "it"]])
    LanguageGroup.complete(&packs, fallback: nil)
    #expect(packs.allSatisfy { $0.fallbackLanguage == nil } && packs[0].languages == ["de", "en-US"])
  }

  @Test("a build writes languages and fallback to the manifest and to the catalogue, and the gate misses none")
  func building() async throws {
    let text = """
      app: {bundleID: com.example.arcade, group: group.com.example.arcade}
      serve: {baseURL: "https://cdn.example.com/packs/"}
      packs:
        - {id: core, root: build/core, delivery: essential}
        - {id: "voices-${name}", each: "build/voices/*", language: "${name}", delivery: prefetch}
        - {id: "songs-${name}", each: "build/songs/*", language: "${name}", delivery: onDemand}

      """
    let project = try ReleaseProject(text + "fallbackLanguage: en\n")
    try project.remove("build/voices/hello.wav")
    for language in ["de", "en-US", "fr"] { try project.add("voices/\(language)/hello.wav", Array("hello \(language)".utf8)) }
    for language in ["de", "en"] { try project.add("songs/\(language)/song.wav", Array("song \(language)".utf8)) }
    try await project.build()
    #expect(try project.manifest().packs.map(\.id) == ["core", "voices-de", "voices-en-US", "voices-fr"])
    for id in ["voices-de", "voices-en-US", "voices-fr"] {
      let pack = try #require(try project.pack(id))
      #expect(pack.languages == ["de", "en-US", "fr"] && pack.fallbackLanguage == "en-US", "\(id)")
    }
    let song = try #require(try project.pack("songs-de"))
    #expect(song.languages == ["de", "en"] && song.fallbackLanguage == "en")
    #expect(try project.pack("core")?.languages == [])
    #expect(try await findings(project) == [])

    // One of the groups has no Spanish.
    try project.configure(text + "fallbackLanguage: es\n")
    #expect(try await findings(project) == ["PK1004 songs-de", "PK1004 songs-en"] + ["de", "en-US", "fr"].map { "PK1004 voices-\($0)" })
    try project.add("songs/es-MX/song.wav", Array("song es".utf8))
    try await project.build()
    #expect(try project.pack("songs-de")?.fallbackLanguage == "es-MX")
    #expect(try await findings(project) == ["PK1010 voices-de"])
    let managed = text.replacing("packs/\"}", with: "packs/\", manifestURL: \"https://cdn.example.com/assets.json\"}")
    try project.configure(managed + "hosting: managed\n")
    try await project.build()
    #expect(try await findings(project) == [])
  }

  /// Returns rules and packs of the findings about languages.
  private func findings(_ project: ReleaseProject) async throws -> [String] {
    var verification = ReleaseVerification(project.directory("dist"), now: ReleaseProject.time().now)
    verification.trusted = TrustedKeys([try ReleaseProject.signingKey(0).publicKey])
    verification.configuration = try PackerConfiguration.read(project.directory("packer.yml"))
    verification.isQuick = true
    let report = try await verification.run(key: Shared(try TestSupport.key(filledFrom: 0)))
    return report.findings.filter { ["PK1004", "PK1010"].contains($0.rule.id) }.map { "\($0.rule.id) \($0.pack ?? "")" }.sorted()
  }
}
