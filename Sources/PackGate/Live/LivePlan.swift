/// A file that is expected at the server, or that must not be there yet.
struct LiveFile: Hashable, Sendable {
  enum Kind: Hashable, Sendable { case pack, delta, lead, opener, shard, earlier, notYet }

  let kind: Kind
  let url: String
  /// The pack that it belongs to.
  var pack: String?
  /// The exact size in bytes; nil if the record of an earlier release does not have it.
  let size: UInt64?
  /// SHA-256 of the file, 32 bytes.
  let sha256: [UInt8]
  /// Where the same file is on this machine, if it is there.
  var path: String?
  /// The version of the newest manifest that names it, for a pack of an earlier release.
  var release: UInt64 = 0
}

/// What a live check expects.
struct LivePlan: Sendable {
  let manifestURL: String
  /// The bytes of the manifest of the release.
  let manifest: [UInt8]
  let version: UInt64
  /// The packs, deltas, leads and shards of the release, and the packs of earlier ones.
  let files: [LiveFile]
  /// The domain allow lists of apps, each with words for its owner.
  let allowLists: [(owner: String, list: AllowList)]
  let now: ManifestTime
  /// Whether large files are only sampled.
  var isQuick = false
  /// Determines the places of samples.
  var seed: UInt64 = 0
  /// Where files that were read whole are noted; nil if they are not.
  var statePath: String?

  /// Whether browsers fetch the files, too.
  var isForBrowsers = false

  /// The header fields of requests besides the usual ones.
  var fields: [String] { isForBrowsers ? ["Origin: https://example.com"] : [] }

  /// How long another manifest is taken for one that a cache still has, in seconds.
  var patience = 0

  /// The number of bytes of a sample.
  static let sampleSize: UInt64 = 4096
  /// The largest file that is read whole also if others are sampled.
  static let smallSize: UInt64 = 256 << 10

  /// Returns the parts of a file that are asked for by themselves.
  func samples(of file: LiveFile) -> [ClosedRange<UInt64>] {
    guard let size = file.size else { return [0...0] }
    let length = min(size, Self.sampleSize)
    guard size > 0, file.kind == .earlier || size > length else { return [] }
    var random = SplitMix64(seed: seed ^ file.sha256.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
    let place = random.next() % (size - length + 1)
    let starts = file.kind == .earlier ? [0] : isQuick ? [0, place, size - length] : [place]
    return starts.map { $0...($0 + length - 1) }
  }

  /// Returns whether a file is read whole.
  func isWhole(_ file: LiveFile) -> Bool {
    guard file.kind != .earlier, let size = file.size else { return false }
    return !isQuick || size <= Self.smallSize || isExample(file)
  }

  /// Whether a file is the smallest of its kind, which is always read, so that a change at the server that concerns all of them is noticed.
  func isExample(_ file: LiveFile) -> Bool { examples.contains(file.url) }

  private let examples: Set<String>

  init(
    manifestURL: String, manifest: [UInt8], version: UInt64, files: [LiveFile], allowLists: [(owner: String, list: AllowList)],
    now: ManifestTime
  ) {
    (self.manifestURL, self.manifest, self.version, self.files, self.allowLists, self.now) = (
      manifestURL, manifest, version, files, allowLists, now
    )
    examples = Set(
      Dictionary(grouping: files, by: \.kind).values.compactMap { $0.min { ($0.size ?? 0, $0.url) < ($1.size ?? 0, $1.url) }?.url })
  }
}
