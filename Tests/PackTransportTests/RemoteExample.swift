import PackApp

struct Settings: Decodable, Sendable {
  let levels: [String]
}

extension AssetKey where Value == Settings { static let settings = AssetKey("settings") }
extension AssetKey where Value == String { static let news = AssetKey("news") }

func openAssets(bundle: String, caches: String, appVersion: String, server: String, store: AssetStore) throws -> RemoteAssets {
  let session = ContentSession()
  return try RemoteAssets(cache: caches + "/assets", appVersion: appVersion) { assets throws(PackError) in
    try assets.declare(
      .settings, bundled: .file(bundle + "/settings.json"),
      as: .json(Settings.self).validated("there is a level") { !$0.levels.isEmpty },
      from: .url(server + "/settings.json", over: session).timeLimit(.seconds(10)).retrying().every(.seconds(60)))
    try assets.declare(
      .news, bundled: .text(""), as: .text, from: .pack(store: store, id: "core", path: "news.txt"))
  }
}
