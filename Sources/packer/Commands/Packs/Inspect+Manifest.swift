extension Inspect {
  /// Whether the argument is a release or its manifest, and not a pack.
  var isManifest: Bool { ReleasePlaces.isReleasePath(file) }

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
      manifest.json(of: folder.manifestPath, signed),
      [
        "\(folder.manifestPath): manifest \(manifest.version), expires \(manifest.expires), signed by \(signers) (not checked)"
      ])
    let catalogue: ReleaseCatalogue
    do throws(PackError) {
      catalogue = try ReleaseCatalogue(manifest, in: ReleasePlaces.directory(of: file))
    } catch {
      guard error.code == .missingInput else { throw error }
      console.warning("only the packs of the manifest itself are shown: \(error.message)", hint: "fetch its shards into the same directory")
      return show(manifest.packs, on: console)
    }
    return show(catalogue.packs, on: console)
  }

  private func show(_ packs: [ManifestPack], on console: Console) -> Outcome {
    let rows = packs.map { [$0.id, "\($0.version)", Table.grouped($0.size), $0.delivery.rawValue, $0.contentRoot.hex] }
    for (pack, row) in zip(packs, Table.columns(rows, numbers: [1, 2])) {
      var lines = pack.deltas.map { delta in
        let permille = pack.size > 0 ? delta.size.multipliedReportingOverflow(by: 1000).partialValue / pack.size : 0
        let bases = delta.bases.map(\.hex).joined(separator: " and ")
        return "    \(Table.grouped(delta.size)) bytes, \(permille / 10).\(permille % 10) %, over content \(bases)"
      }
      if let stream = pack.stream {
        lines.append("    \(Table.grouped(stream.size)) bytes of lead, with the first \(Table.grouped(stream.launch)) of the pack")
      }
      if let candidate = pack.candidate {
        lines.append(
          "    \(Table.grouped(candidate.size)) bytes of version \(candidate.version), the candidate of rollout '\(candidate.rollout)'")
      }
      console.result(pack.json, [row] + lines)
    }
    return .done
  }
}

extension Manifest {
  fileprivate func json(of file: String, _ signed: SignedManifest) -> JSON {
    [
      "type": "manifest", "file": .text(file), "version": .number(version), "issued": .text(issued?.description),
      "expires": .text(expires.description), "signers": .texts(signed.signatures.map(\.keyID)), "base": .text(defaults.baseURL),
      "shards": .number(catalogue.count), "rollouts": rollouts.isEmpty ? nil : .list(rollouts.map(\.json)),
    ]
  }
}

extension ManifestPack {
  /// Sizes are in bytes.
  fileprivate var json: JSON {
    let deltas = deltas.map { delta -> JSON in
      [
        "bases": .texts(delta.bases.map(\.hex)), "size": .number(delta.size), "sha256": .text(delta.sha256.hex),
      ]
    }
    return [
      "type": "pack", "id": .text(id), "version": .number(version), "size": .number(size), "sha256": .text(sha256.hex),
      "contentRoot": .text(contentRoot.hex), "keyID": .text(keyID), "delivery": .text(delivery.rawValue), "url": .text(url),
      "deltas": .list(deltas), "lead": stream.map { $0.json }, "opener": opener.map { $0.json }, "candidate": candidate.map { $0.json },
    ]
  }
}

extension Rollout {
  /// The share is in hundredths of a percent.
  var json: JSON {
    [
      "id": .text(id), "state": .text(state.rawValue), "share": .number(share), "groups": .texts(groups), "until": .text("\(until)"),
    ]
  }
}

extension ManifestCandidate {
  fileprivate var json: JSON {
    [
      "rollout": .text(rollout), "version": .number(version), "size": .number(size), "sha256": .text(sha256.hex),
      "contentRoot": .text(contentRoot.hex),
    ]
  }
}

extension ManifestOpener {
  fileprivate var json: JSON {
    ["opens": .text(opens?.description), "size": .number(size), "sha256": .text(sha256.hex)]
  }
}

extension ManifestStream {
  fileprivate var json: JSON {
    [
      "size": .number(size), "sha256": .text(sha256.hex), "launch": .number(launch), "tail": .number(tail), "leaves": .text(leaves.hex),
    ]
  }
}
