package import PackManifest
package import PackProject

/// A packaging manifest for Apple's `ba-package`, which makes a managed asset pack with one of packer's packs as its only file.
///
/// `ba-package` resolves file names against its working directory, so it is run in the directory that holds both.
package struct BAPackageManifest: Hashable, Sendable {
  private let pack: ManifestPack
  private let payload: String
  private let events: [PackerConfiguration.InstallationEvent]

  /// - Parameters:
  ///   - payload: the name of the pack file, relative to the directory `ba-package` is run in. The app asks the system for the file by this
  ///     name, so it should not change between versions. Use ``payloadName(for:)``.
  ///   - events: the events at which essential and prefetch packs are downloaded. Empty means all events.
  package init(for pack: ManifestPack, payload: String, events: [PackerConfiguration.InstallationEvent]) {
    self.pack = pack
    self.payload = payload
    self.events = events.isEmpty ? PackerConfiguration.InstallationEvent.allCases : events
  }

  /// Returns the file name of the packaging manifest of a pack.
  package static func fileName(for id: String) -> String { "\(id).json" }

  /// Returns the name of the pack file in the asset pack, which is the same for all versions.
  package static func payloadName(for id: String) -> String { "\(id).pack" }

  /// Notes for the person who runs `ba-package`, one sentence each.
  package var notes: [String] {
    guard let language = pack.language else { return [] }
    return ["pack '\(pack.id)' is for the language '\(language)', which needs the ba-package of Xcode 27 or newer, on a Mac"]
  }

  /// The bytes of the document: strict JSON, keys in ascending order, the same bytes for the same values.
  package var json: [UInt8] {
    var members: [(String, JSONText)] = [
      ("assetPackID", .string(pack.id)),
      ("downloadPolicy", .object([(pack.delivery.rawValue, policy)])),
      ("fileSelectors", .array([.object([("file", .string(payload))])])),
    ]
    if let language = pack.language { members.append(("language", .string(language))) }
    // Sources disagree about the meaning of an empty list, so all platforms are listed.
    let platforms = pack.platforms.isEmpty ? Self.platforms : Array(Set(pack.platforms)).sorted()
    members.append(("platforms", .array(platforms.map(JSONText.string))))
    return Array((JSONText.object(members).text(indent: "") + "\n").utf8)
  }

  private var policy: JSONText {
    guard pack.delivery != .onDemand else { return .object([]) }
    let named = PackerConfiguration.InstallationEvent.allCases.filter { events.contains($0) }
    return .object([("installationEventTypes", .array(named.map { .string($0.rawValue) }))])
  }

  /// All platforms that a managed asset pack can be for.
  private static let platforms = ["iOS", "macOS", "tvOS", "visionOS"]
}

/// A JSON value with only the types that a packaging manifest needs, written with indentation.
private indirect enum JSONText {
  case string(String)
  case array([JSONText])
  case object([(String, JSONText)])

  func text(indent: String) -> String {
    let inner = indent + "  "
    switch self {
    case .string(let text):
      return JSONString.quoted(text)
    case .array(let items):
      return Self.block("[", items.map { $0.text(indent: inner) }, "]", indent: indent)
    case .object(let members):
      return Self.block("{", members.map { "\(JSONString.quoted($0.0)): \($0.1.text(indent: inner))" }, "}", indent: indent)
    }
  }

  private static func block(_ open: String, _ lines: [String], _ close: String, indent: String) -> String {
    guard !lines.isEmpty else { return open + close }
    return "\(open)\n\(lines.map { "\(indent)  \($0)" }.joined(separator: ",\n"))\n\(indent)\(close)"
  }
}
