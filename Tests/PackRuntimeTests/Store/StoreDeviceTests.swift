import TestSupport
import Testing

@Suite("Packs for other devices in a store", .bounded)
struct StoreDeviceTests {
  private let stage: StoreStage

  init() throws {
    stage = try StoreStage()
  }

  private func offer(_ id: String, platforms: [String] = [], language: String? = nil) async throws -> StoreStage.Offer {
    var offer = try await stage.offer(id)
    offer.entry.platforms = platforms
    offer.entry.language = language
    return offer
  }

  @Test("a plan has no packs of other platforms and languages, and follows a change of the language")
  func planning() async throws {
    let offers = [
      try await offer("core"), try await offer("desk", platforms: ["macOS"]), try await offer("voices-de", language: "de"),
      try await offer("voices-en", language: "en"),
    ]
    let store = try await stage.open()
    #expect(store.device == .any)
    store.setDevice(DeviceProfile(platform: .iOS, languages: ["de-AT"]))
    let plan = try await store.adopt(stage.manifest(1, offers))
    #expect(plan.downloads.map(\.id) == ["core", "voices-de"])
    for offer in offers where plan.downloads.contains(offer.entry) {
      try await store.install(offer.path, as: offer.entry.id)
      try await store.activate(offer.entry.id, onTrial: false)
    }
    store.setDevice(DeviceProfile(platform: .iOS, languages: ["en-GB", "fr"]))
    let next = try await store.plan()
    #expect(next.downloads.map(\.id) == ["voices-en"])
    #expect(next.obsolete.map(\.id) == ["voices-de"])
    // It stays usable until the app removes it or space is short, and is then the first to go.
    #expect(try await store.current("voices-de")?.version == 1)
    #expect(try await store.purge(toFree: 1).removed.map(\.pack.id) == ["voices-de"])
    store.setDevice(DeviceProfile(platform: .macOS, languages: []))
    #expect(try await store.plan().downloads.map(\.id) == ["desk"])
  }

  /// Returns packs of a group of languages.
  private func group(
    _ name: String, _ languages: [String], fallback: String?, delivery: DeliveryClass = .prefetch
  ) async throws -> [StoreStage.Offer] {
    var offers: [StoreStage.Offer] = []
    for language in languages {
      offers.append(try await offer("\(name)-\(language)", language: language))
      offers[offers.count - 1].entry.delivery = delivery
      offers[offers.count - 1].entry.languages = languages
      offers[offers.count - 1].entry.fallbackLanguage = fallback
    }
    return offers
  }

  @Test("of two groups a device takes one pack each: the language of its user where it is, and the fallback where it is not")
  func groups() async throws {
    let voices = try await group("voices", ["de", "en-US"], fallback: "en-US")
    let texts = try await group("texts", ["de", "fr"], fallback: "de")
    let songs = try await group("songs", ["de", "en-US"], fallback: nil)
    let store = try await stage.open()
    store.setDevice(DeviceProfile(platform: nil, languages: ["fr-CA"]))
    let plan = try await store.adopt(stage.manifest(1, voices + texts + songs))
    #expect(plan.downloads.map(\.id) == ["voices-en-US", "texts-fr"])
    for (languages, ids) in [
      (["fr", "de"], ["voices-de", "texts-fr", "songs-de"]), (["en-GB"], ["voices-en-US", "texts-de", "songs-en-US"]),
      (["de", "en-US"], ["voices-de", "texts-de", "songs-de"]), ([], []), (nil, (voices + texts + songs).map(\.entry.id)),
    ] as [([String]?, [String])] {
      store.setDevice(DeviceProfile(platform: nil, languages: languages))
      #expect(try await store.plan().downloads.map(\.id) == ids, "\(String(describing: languages))")
    }
  }

  @Test("a release with another language replaces the fallback on the devices of that language only")
  func newLanguage() async throws {
    let old = try await group("voices", ["de", "en-US"], fallback: "en-US")
    let new = try await group("voices", ["de", "en-US", "es"], fallback: "en-US")
    for (languages, id) in [(["es-MX"], "voices-es"), (["it"], "voices-en-US"), (["de"], "voices-de")] {
      let place = try StoreStage()
      let store = try await place.open()
      store.setDevice(DeviceProfile(platform: nil, languages: languages))
      let first = try await store.adopt(stage.manifest(1, old)).downloads
      #expect(first.count == 1)
      for offer in old where first.contains(offer.entry) { try await store.install(offer.path, as: offer.entry.id, taking: .copying) }
      let plan = try await store.adopt(stage.manifest(2, new))
      let isSame = first.map(\.id) == [id]
      #expect(plan.downloads.map(\.id) == (isSame ? [] : [id]))
      #expect(plan.obsolete.map(\.id) == (isSame ? [] : ["voices-en-US"]))
      withExtendedLifetime(place) {}
    }
  }

  @Test("whether a pack of a catalogue is for a device does not depend on the shards that are there")
  func shards() async throws {
    let voices = try await group("voices", ["de", "en-US", "fr", "pt-BR"], fallback: "en-US", delivery: .onDemand)
    let ids = Set(voices.map(\.entry.id))
    let release = try CatalogueRelease(1, [], catalogue: voices, count: 4)
    for (language, id) in [("es", "voices-en-US"), ("en-GB", "voices-en-US"), ("pt-PT", "voices-pt-BR"), ("fr", "voices-fr")] {
      for known in 0..<16 {
        let place = try StoreStage()
        let store = try await place.open()
        store.setDevice(DeviceProfile(platform: nil, languages: [language]))
        _ = try await store.adopt(release.document)
        let numbers = (0..<4).filter { known & 1 << $0 != 0 }
        try release.deliver(to: store, numbers)
        let found = try await store.plan(wanting: ids)
        let hasShard = try numbers.contains(Shard.number(of: id, among: 4))
        #expect(found.downloads.map(\.id) == (hasShard ? [id] : []), "\(language) with \(numbers)")
        withExtendedLifetime(place) {}
      }
    }
  }
}
