import PackFiles
import PackFormat
import PackManifest

/// The contents of `unit.json` in a part: which unit of which plan is in the directory.
package struct UnitRecord: Hashable, Sendable {
  /// The digest of the plan, 32 bytes.
  package var plan: [UInt8]
  /// The number of the unit.
  package var unit: Int
  /// The name of the pack.
  package var id: String
  /// The content root of the source as it was packed, 32 bytes.
  package var contentRoot: [UInt8]
  /// The version of the pack.
  package var version: UInt64
  /// The size of the pack in bytes.
  package var size: UInt64
  /// SHA-256 of the pack, 32 bytes.
  package var sha256: [UInt8]

  package static let fileName = "unit.json"

  /// The name of the pack's file beside the record.
  package var file: String { ManifestPack.publishedName(id, sha256) }

  init(plan: [UInt8], unit: Int, _ made: BuildRecord.Pack) {
    (self.plan, self.unit, id, contentRoot, version, size, sha256) =
      (plan, unit, made.id, made.contentRoot, made.version, made.size, made.sha256)
  }

  /// Reads the record in a directory. Returns nil if there is none.
  init?(in directory: String, files: any FileSystem) throws(PackError) {
    let path = "\(directory)/\(Self.fileName)"
    do throws(PackError) {
      var fields = try RecordFields(try RecordFile.read(path, limit: 64 << 10, files: files), "the record")
      plan = try fields.bytes("plan", count: 32)
      unit = Int(try fields.number("unit"))
      id = try fields.packName("id")
      contentRoot = try fields.bytes("contentRoot", count: 32)
      version = try fields.number("packVersion")
      size = try fields.number("size")
      sha256 = try fields.bytes("sha256", count: 32)
      try fields.finish()
    } catch {
      if error.code == .missingInput { return nil }
      throw error.about(path)
    }
  }

  var document: [UInt8] {
    RecordValue.sorted([
      "contentRoot": .text(contentRoot.hex), "id": .text(id), "packVersion": .number(version), "plan": .text(plan.hex),
      "sha256": .text(sha256.hex), "size": .number(size), "unit": .number(UInt64(unit)),
    ]).document
  }
}
