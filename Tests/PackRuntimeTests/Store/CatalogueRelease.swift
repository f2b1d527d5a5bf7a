import Foundation
import TestSupport

@testable import PackStore

/// A release with packs in a catalogue.
struct CatalogueRelease: Sendable {
  let manifest: Manifest
  let document: SignedManifest
  /// The shards, as they are published.
  let files: [SmallCatalogue.File]

  static let defaults = ManifestDefaults(baseURL: StoreStage.base)

  /// - Parameters:
  ///   - own: The packs that the manifest lists itself.
  ///   - catalogue: The packs in its catalogue. If there are none, it has no catalogue.
  ///   - count: The number of shards.
  init(
    _ version: UInt64, _ own: [StoreStage.Offer], catalogue: [StoreStage.Offer], count: Int = 1, signedBy key: UInt8 = 0
  ) throws(PackError) {
    let files = try catalogue.isEmpty ? [] : SmallCatalogue(catalogue.map(\.entry), count: count, defaults: Self.defaults).files
    try self.init(version, own.map(\.entry), files, signedBy: key)
  }

  init(_ version: UInt64, _ own: [ManifestPack], _ files: [SmallCatalogue.File], signedBy key: UInt8 = 0) throws(PackError) {
    var manifest = Manifest(
      version: version, issued: nil, expires: ManifestTime("2030-01-01T00:00:00Z")!, budget: nil, defaults: Self.defaults, packs: own)
    manifest.catalogue = files.map(\.shard)
    self.manifest = manifest
    document = try KeysSample.sign(manifest, by: [key])
    self.files = files
  }

  /// The published names of the shards.
  var fileNames: [String] { files.map(\.shard.fileName) }

  /// Returns the address of a shard.
  func address(_ number: Int) -> String { StoreStage.base + fileNames[number] }

  /// The files by the addresses at which devices fetch them.
  var served: [String: [UInt8]] {
    Dictionary(files.indices.map { (address($0), files[$0].bytes) }) { bytes, _ in bytes }
  }

  /// Returns the name of a shard on a device.
  func name(_ number: Int) -> String {
    "\(number)-\(files.count)-\(files[number].shard.sha256.prefix(8).hex)\(Shard.fileExtension)"
  }

  /// The names of all shards on a device.
  var names: [String] { files.indices.map(name).sorted() }

  /// Has a store keep the shards.
  ///
  /// - Parameter numbers: Which. If nil, all of them.
  func deliver(to store: AssetStore, _ numbers: [Int]? = nil) throws(PackError) {
    for number in numbers ?? Array(files.indices) { try store.catalogue.keep(files[number].bytes, number, of: manifest) }
  }

  /// Writes the shards to the directory from which stores take them.
  func publish(on disk: MemoryDisk) {
    for file in files { disk.write(file.bytes, to: "\(CrashSample.published)/\(file.shard.fileName)") }
  }

  /// The JSON of a shard with these entries, in this order.
  static func json(_ offers: [StoreStage.Offer]) throws(PackError) -> [UInt8] {
    let front = Array(#"{"packs":["#.utf8)
    var entries: [[UInt8]] = []
    for offer in offers { entries.append(Array(try ShardContent.bytes([offer.entry], defaults).dropFirst(front.count).dropLast(2))) }
    return front + entries.joined(separator: [UInt8(ascii: ",")]) + Array("]}".utf8)
  }
}
