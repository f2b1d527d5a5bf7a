/// A packaging manifest for Apple's `ba-package`, which makes a managed asset pack with one of packer's packs as its only file.
///
/// `ba-package` resolves file names against its working directory, so it is run in the directory that holds both.
package struct BAPackageManifest: Hashable, Sendable {
  private let pack: ManifestPack
  private let payload: String

  /// - Parameter payload: the name of the pack file, relative to the directory `ba-package` is run in. The app asks the system for the file by this
  ///   name, so it should not change between versions. Use ``payloadName(for:)``.
  package init(for pack: ManifestPack, payload: String) {
    self.pack = pack
    self.payload = payload
  }

  /// Returns the file name of the packaging manifest of a pack.
  package static func fileName(for id: String) -> String { "\(id).json" }

  /// Returns the name of the pack file in the asset pack, which is the same for all versions.
  package static func payloadName(for id: String) -> String { AssetPackFile.name(of: id) }

  /// Notes for the person who runs `ba-package`, one sentence each.
  package var notes: [String] {
    guard let language = pack.language else { return [] }
    return ["pack '\(pack.id)' is for the language '\(language)', which needs the ba-package of Xcode 27 or newer, on a Mac"]
  }

  /// The bytes of the document: strict JSON, keys in ascending order, the same bytes for the same values.
  package var json: [UInt8] {
    // Sources disagree about the meaning of an empty list, so all platforms are listed.
    let platforms = pack.platforms.isEmpty ? Self.platforms : Array(Set(pack.platforms)).sorted()
    let value = JSON.sorted([
      "assetPackID": .text(pack.id), "downloadPolicy": .sorted([pack.delivery.rawValue: policy]),
      "fileSelectors": [["file": .text(payload)]], "language": .text(pack.language), "platforms": .texts(platforms),
    ])
    return Array((value.tree + "\n").utf8)
  }

  private var policy: JSON {
    pack.delivery == .onDemand ? [:] : ["installationEventTypes": ["firstInstallation", "subsequentUpdate"]]
  }

  /// All platforms that a managed asset pack can be for.
  private static let platforms = ["iOS", "macOS", "tvOS", "visionOS"]
}
