import Foundation

/// What a library is opened with, as C gives it: a JSON object.
struct LibraryOptions: Decodable {
  /// The directory of the library.
  var directory: String?
  /// The app group, in the place of the directory, on Apple's systems.
  var group: String?
  /// The address of the signed manifest.
  var manifest: String?
  /// The public keys that may sign the manifest, or one keys document.
  var trusting: [String]
  /// The service of the keys in the keychain, on Apple's systems.
  var keychain: String?
  /// A directory with a release inside the app.
  var bundled: String?
  var confirmsVersions: Bool?
  var lowestManifestVersion: UInt64?
  /// In seconds.
  var refreshInterval: Int64?
  var languages: [String]?
  /// The groups of the installation, for rollouts.
  var groups: [String]?
  /// The share of outcomes of versions that are told, from 0 to 1, and the percentage of these that is random.
  var seenShare: Double?
  var seenRandomised: Int?
  /// The header fields of every request.
  var fields: [String: String]?
  var allowsCellular: Bool?
  var allowsExpensive: Bool?
  var allowsConstrained: Bool?
  /// In bytes.
  var quota: UInt64?
  /// The number of bytes above which the app is asked before downloads.
  var consentAbove: UInt64?

  private enum Name: String, CodingKey, CaseIterable {
    case directory, group, manifest, trusting, keychain, bundled, confirmsVersions, lowestManifestVersion, refreshInterval, languages,
      groups, seenShare, seenRandomised, fields
    case allowsCellular, allowsExpensive, allowsConstrained, quota, consentAbove
  }

  private struct AnyName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Reads options.
  ///
  /// - Throws: ``PackError/Code/usage`` if the text is no JSON object, has a member that is unknown or of another type, or lacks one.
  init(_ text: String) throws(PackError) {
    do {
      self = try JSONDecoder().decode(LibraryOptions.self, from: Data(text.utf8))
      // The system would take what comes before it for the path.
      for path in [directory, bundled] where path?.utf8.contains(0) ?? false { throw PackError(.usage, "a path has a character 0") }
    } catch let error as DecodingError {
      throw PackError(.usage, "the options cannot be read: \(Self.reason(error))")
    } catch {
      throw error as? PackError ?? PackError(.usage, "the options cannot be read")
    }
  }

  init(from decoder: any Decoder) throws {
    for name in try decoder.container(keyedBy: AnyName.self).allKeys where Name(rawValue: name.stringValue) == nil {
      let nearest = SpellingSuggestion.nearest(to: name.stringValue, among: Name.allCases.map(\.rawValue))
      throw PackError(
        .usage, "there is no option '\(name.stringValue)'", advice: nearest.map { .developer("did you mean '\($0)'?") })
    }
    let values = try decoder.container(keyedBy: Name.self)
    directory = try values.decodeIfPresent(String.self, forKey: .directory)
    group = try values.decodeIfPresent(String.self, forKey: .group)
    manifest = try values.decodeIfPresent(String.self, forKey: .manifest)
    trusting = try values.decode([String].self, forKey: .trusting)
    keychain = try values.decodeIfPresent(String.self, forKey: .keychain)
    bundled = try values.decodeIfPresent(String.self, forKey: .bundled)
    confirmsVersions = try values.decodeIfPresent(Bool.self, forKey: .confirmsVersions)
    lowestManifestVersion = try values.decodeIfPresent(UInt64.self, forKey: .lowestManifestVersion)
    refreshInterval = try values.decodeIfPresent(Int64.self, forKey: .refreshInterval)
    languages = try values.decodeIfPresent([String].self, forKey: .languages)
    groups = try values.decodeIfPresent([String].self, forKey: .groups)
    seenShare = try values.decodeIfPresent(Double.self, forKey: .seenShare)
    seenRandomised = try values.decodeIfPresent(Int.self, forKey: .seenRandomised)
    fields = try values.decodeIfPresent([String: String].self, forKey: .fields)
    allowsCellular = try values.decodeIfPresent(Bool.self, forKey: .allowsCellular)
    allowsExpensive = try values.decodeIfPresent(Bool.self, forKey: .allowsExpensive)
    allowsConstrained = try values.decodeIfPresent(Bool.self, forKey: .allowsConstrained)
    quota = try values.decodeIfPresent(UInt64.self, forKey: .quota)
    consentAbove = try values.decodeIfPresent(UInt64.self, forKey: .consentAbove)
  }

  private static func reason(_ error: DecodingError) -> String {
    switch error {
    case .keyNotFound(let name, _): "there is no '\(name.stringValue)'"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      "'\(context.codingPath.first?.stringValue ?? "it")' has a value of another kind"
    default: "this is no JSON object"
    }
  }

  /// Returns the settings of the library.
  ///
  /// - Parameter ask: Asks the app about a download.
  func settings(_ ask: @escaping @Sendable (DownloadQuestion) async -> Bool) -> PackLibrary.Options {
    var options = PackLibrary.Options()
    options.bundled = bundled.map { URL(fileURLWithPath: $0, isDirectory: true) }
    options.confirmsVersions = confirmsVersions ?? options.confirmsVersions
    options.lowestManifestVersion = lowestManifestVersion ?? options.lowestManifestVersion
    options.refreshInterval = refreshInterval.map { .seconds($0) } ?? options.refreshInterval
    if let languages { options.device.languages = languages }
    options.groups = Set(groups ?? [])
    options.seen = seenShare.map { PackLibrary.SeenFiles(share: $0, randomised: seenRandomised ?? 0) }
    options.store.quota = quota
    if let consentAbove { options.consent = DownloadConsent(above: consentAbove, ask: ask) }
    options.transport.setRequests(
      fields: fields ?? [:], cellular: allowsCellular, expensive: allowsExpensive, constrained: allowsConstrained)
    return options
  }
}
