/// What a web portal asks of a game: a table of limits, each with its source.
package struct Portal: Hashable, Sendable {
  /// The name in `--for`.
  package let name: String
  /// The files that the portal opens, from the top of the game.
  let entry: [String]
  /// Sorted by their rules.
  package let limits: [Limit]
  /// The host of the portal's own script, without which it counts all of a game as loaded before it can be played; nil if it does not.
  var script: String?

  /// Something that a portal asks.
  package struct Limit: Hashable, Sendable {
    let kind: Kind
    /// An error is what the portal refuses; a warning is what it advises against or refuses for some games.
    let level: FindingLevel
    /// The page that says so.
    let source: String
    /// The day on which the page was last read.
    let date: String
  }

  enum Kind: Hashable, Sendable {
    /// The files that the portal opens are there.
    case entry
    case totalSize(Bound)
    case fileCount(Bound)
    case fileSize(Bound)
    /// The characters that a path may have besides its slashes.
    case characters(Set<Character>)
    /// The length of a path in characters.
    case pathLength(Bound)
    /// The endings that the names of files may have.
    case endings(Set<String>)
    case relativePaths
    /// Nothing is loaded from hosts other than these.
    case hosts(Set<String>)
    /// What is loaded before it can be played, compressed.
    case firstSize(Bound)
    /// What is in none of the subpackages of game.json.
    case mainSize(Bound)
    /// The milliseconds until it can be played.
    case milliseconds(Bound)
  }

  /// A largest number.
  enum Bound: Hashable, Sendable {
    case below(UInt64)
    case upTo(UInt64)

    func allows(_ number: UInt64) -> Bool {
      switch self {
      case .below(let limit): number < limit
      case .upTo(let limit): number <= limit
      }
    }

    var number: UInt64 {
      switch self {
      case .below(let limit), .upTo(let limit): limit
      }
    }
  }

  /// Returns the portal with a name.
  package static func named(_ name: String) throws(PackError) -> Portal {
    guard let portal = all.first(where: { $0.name == name }) else {
      throw PackError(
        .usage, "there is no portal '\(name)'", hint: "the rules of these are known: \(all.map(\.name).joined(separator: ", "))")
    }
    return portal
  }

  // MARK: The table

  /// All portals whose rules are known.
  package static let all = [youTube, crazyGames, itch, weChat]

  private static let mB: UInt64 = 1_000_000
  private static let (kiB, miB): (UInt64, UInt64) = (1 << 10, 1 << 20)

  private static let youTube: Portal = {
    let base = "https://developers.google.com/youtube/gaming/playables"
    let (stability, read) = ("\(base)/certification/requirements_stability", "2026-11-30")
    let names = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."
    return Portal(
      name: "youtube-playables", entry: ["index.html"],
      limits: [
        Limit(kind: .entry, level: .error, source: "\(base)/reference/getting_started", date: read),
        Limit(kind: .totalSize(.below(250 * miB)), level: .error, source: stability, date: read),
        Limit(kind: .fileSize(.below(30 * miB)), level: .error, source: stability, date: read),
        Limit(kind: .fileSize(.below(512 * kiB)), level: .warning, source: stability, date: read),
        Limit(kind: .characters(Set(names)), level: .error, source: stability, date: read),
        Limit(kind: .relativePaths, level: .error, source: stability, date: read),
        // Its own interface is a script of that host.
        Limit(kind: .hosts(["www.youtube.com"]), level: .error, source: "\(base)/certification/requirements_privacydata", date: read),
        Limit(kind: .firstSize(.below(30 * miB)), level: .error, source: stability, date: read),
        Limit(kind: .firstSize(.below(15 * miB)), level: .warning, source: stability, date: read),
        Limit(kind: .milliseconds(.below(5000)), level: .warning, source: stability, date: read),
      ])
  }()

  private static let crazyGames: Portal = {
    let (technical, read) = ("https://docs.crazygames.com/requirements/technical/", "2026-11-30")
    // It shows that a game is at /GAME/VERSION/index.html of a host.
    let place = "https://docs.crazygames.com/resources/html5/sitelock"
    return Portal(
      name: "crazygames", entry: ["index.html"],
      limits: [
        Limit(kind: .entry, level: .error, source: place, date: read),
        Limit(kind: .totalSize(.upTo(250 * mB)), level: .error, source: technical, date: read),
        Limit(kind: .fileCount(.upTo(1500)), level: .error, source: technical, date: read),
        Limit(kind: .relativePaths, level: .error, source: place, date: read),
        Limit(kind: .firstSize(.upTo(50 * mB)), level: .error, source: technical, date: read),
        // For its home page on phones.
        Limit(kind: .firstSize(.upTo(20 * mB)), level: .note, source: technical, date: read),
        Limit(kind: .milliseconds(.upTo(20_000)), level: .warning, source: technical, date: read),
      ], script: "sdk.crazygames.com")
  }()

  private static let itch: Portal = {
    // Its own page, https://itch.io/docs/creators/html5#zip-file-requirements, was read in this copy.
    let (copy, read) = ("https://developer.playcanvas.com/user-manual/publishing/itch-io", "2026-11-30")
    return Portal(
      name: "itch", entry: ["index.html"],
      limits: [
        Limit(kind: .entry, level: .error, source: copy, date: read),
        Limit(kind: .totalSize(.upTo(500 * mB)), level: .error, source: copy, date: read),
        Limit(kind: .fileCount(.upTo(1000)), level: .error, source: copy, date: read),
        Limit(kind: .fileSize(.upTo(200 * mB)), level: .error, source: copy, date: read),
        Limit(kind: .pathLength(.upTo(240)), level: .error, source: copy, date: read),
        Limit(kind: .relativePaths, level: .error, source: copy, date: read),
      ])
  }()

  private static let weChat: Portal = {
    let (package, read) = ("https://developers.weixin.qq.com/minigame/dev/guide/framework/code-package.html", "2026-11-30")
    let endings = """
      png jpg jpeg gif svg js json cer obj dae fbx mtl stl 3ds mp3 pvr wav plist ttf fnt gz ccz m4a mp4 bmp atlas swf ani part proto bin sk mipmaps \
      txt zip tt map ogg silk dbbin dbmv etc lmat lm ls lh lani lav lsani ltc aac astc br csv cur dat dds glb gltf ico ktx lmani lml pkm prefab \
      scene skel wasm xml
      """
    return Portal(
      name: "wechat", entry: ["game.js", "game.json"],
      limits: [
        Limit(
          kind: .entry, level: .error, source: "https://developers.weixin.qq.com/minigame/en/dev/tutorial/base/subpackages.html", date: read
        ),
        Limit(kind: .totalSize(.upTo(30 * miB)), level: .error, source: package, date: read),
        // Only games that sell something may be larger.
        Limit(kind: .totalSize(.upTo(20 * miB)), level: .warning, source: package, date: read),
        // Other files are left out of the upload.
        Limit(kind: .endings(Set(endings.split(separator: " ").map(String.init))), level: .warning, source: package, date: read),
        Limit(kind: .mainSize(.upTo(4 * miB)), level: .error, source: package, date: read),
      ])
  }()
}
