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
}
