import PackBuild
import PackFiles
import PackFormat
import PackManifest
import PackProject
import PackStore

extension Inspect {
  /// Whether the argument is a release or its manifest, and not a pack.
  var isManifest: Bool { file.hasSuffix(".json") || ReleasePlaces.isDirectory(file) }

  /// Shows what a manifest says, with the deltas to its packs. Its signatures are not checked.
  func showManifest(in session: Session) throws(PackError) -> Outcome {
    guard key.references.isEmpty else {
      throw PackError(.usage, "--key is for a delta, and \(file) is a manifest", hint: "packer verify \(ShellWord.path(file)) --key REF")
    }
    let folder = ReleaseFolder(file)
    let signed = try SignedManifest.read(folder.manifestPath)
    let manifest = try naming(folder.manifestPath) { () throws(PackError) in
      try Manifest(parsing: signed.bytes.byteSpan, signed.signedBytes)
    }
    let console = session.console
    let signers = signed.signatures.map(\.keyID).joined(separator: " and ")
    console.result(
      ManifestRecord(folder.manifestPath, manifest, signed),
      [
        "\(folder.manifestPath): manifest \(manifest.version), expires \(manifest.expires), signed by \(signers) (not checked)"
      ])
    let catalogue: ReleaseCatalogue
    do throws(PackError) {
      catalogue = try ReleaseCatalogue(manifest, in: ReleasePlaces.directory(of: file))
    } catch {
      guard error.code == .missingInput else { throw error }
      console.warning("only the packs of the manifest itself are shown: \(error.message)", hint: "fetch its pages into the same directory")
      return show(manifest.packs, [], on: console)
    }
    return show(catalogue.packs, catalogue.updates, on: console)
  }

  private func show(_ packs: [ManifestPack], _ updates: [PackUpdates], on console: Console) -> Outcome {
    let rows = packs.map { [$0.id, "\($0.version)", Table.grouped(Int64(clamping: $0.size)), $0.delivery.rawValue, $0.contentRoot.hex] }
    let deltas = Dictionary(updates.map { ($0.id, $0.deltas) }) { first, _ in first }
    for (pack, row) in zip(packs, Table.columns(rows, numbers: [1, 2])) {
      let own = deltas[pack.id] ?? []
      let lines = own.map { delta in
        let permille = pack.size > 0 ? delta.size.multipliedReportingOverflow(by: 1000).partialValue / pack.size : 0
        let bases = delta.bases.map(\.hex).joined(separator: " and ")
        let target = delta.target.map { ", to \($0.hex)" } ?? ""
        return
          "    \(Table.grouped(Int64(clamping: delta.size))) bytes, \(permille / 10).\(permille % 10) %, over content \(bases)\(target)"
      }
      console.result(ListedPackRecord(pack, own), [row] + lines)
    }
    return .done
  }
}

private struct ManifestRecord: Encodable {
  let type = "manifest"
  let file: String
  let version: UInt64
  let issued: String?
  let expires: String
  let signers: [String]
  let base: String?
  let pages: Int

  init(_ file: String, _ manifest: Manifest, _ signed: SignedManifest) {
    self.file = file
    version = manifest.version
    issued = manifest.issued.map { "\($0)" }
    expires = "\(manifest.expires)"
    signers = signed.signatures.map(\.keyID)
    base = manifest.defaults.baseURL
    pages = manifest.pages.count
  }
}

/// Sizes are in bytes.
private struct ListedPackRecord: Encodable {
  struct Delta: Encodable {
    let bases: [String]
    let target: String?
    let size: UInt64
    let sha256: String
  }

  let type = "pack"
  let id: String
  let version: UInt64
  let size: UInt64
  let sha256: String
  let contentRoot: String
  let keyID: String
  let delivery: String
  let url: String
  let deltas: [Delta]

  init(_ pack: ManifestPack, _ deltas: [ManifestDelta]) {
    id = pack.id
    version = pack.version
    size = pack.size
    sha256 = pack.sha256.hex
    contentRoot = pack.contentRoot.hex
    keyID = pack.keyID
    delivery = pack.delivery.rawValue
    url = pack.url
    self.deltas = deltas.map { Delta(bases: $0.bases.map(\.hex), target: $0.target?.hex, size: $0.size, sha256: $0.sha256.hex) }
  }
}
