extension Manifest {
  /// Returns the `signed` part of the document in canonical form: the bytes to sign.
  ///
  /// Parts that are nil are left out.
  ///
  /// - Throws: ``PackError/Code/invalidManifest`` for values that a manifest may not contain. The details list all of them.
  public func signedBytes() throws(PackError) -> [UInt8] {
    try bytes(withTime: true)
  }

  /// Returns the same without `version`, `issued` and `expires`, for comparing the content of two manifests.
  public func contentBytes() throws(PackError) -> [UInt8] {
    try bytes(withTime: false)
  }

  private func bytes(withTime: Bool) throws(PackError) -> [UInt8] {
    let faults = ManifestRules.faults(of: self)
    if let first = faults.first {
      throw PackError(
        .invalidManifest, faults.count == 1 ? first : "\(first), and \(faults.count - 1) more faults",
        details: faults.count == 1 ? [] : faults)
    }
    var writer = CanonicalWriter()
    writer.object { writer in
      writer.string("base", defaults.baseURL)
      if let budget {
        writer.key("budget")
        writer.object { writer in
          for (key, bytes) in budget.named { writer.integer(key, bytes) }
        }
      }
      if !catalogue.isEmpty { writer.array("catalogue", catalogue) { $1.write(to: &$0) } }
      if withTime {
        writer.string("expires", expires.description)
        writer.string("issued", issued?.description)
      }
      writer.string("keyId", defaults.keyID)
      writer.array("packs", packs) { writer, pack in pack.write(to: &writer, defaults) }
      if !rollouts.isEmpty { writer.array("rollouts", rollouts) { $1.write(to: &$0) } }
      writer.string("schema", Self.schema)
      if withTime { writer.integer("version", version) }
    }
    return writer.bytes
  }
}

extension ManifestPack {
  /// Writes the entry without what the defaults give, or the shard.
  func write(to writer: inout CanonicalWriter, _ defaults: ManifestDefaults, isInShard: Bool = false) {
    writer.object { writer in
      writer.string("basePack", basePack)
      if let candidate {
        writer.key("candidate")
        candidate.write(to: &writer)
      }
      writer.string("contentRoot", contentRoot.hex)
      writer.integer("contentSize", contentSize)
      writer.string("created", created?.description)
      if !isInShard { writer.string("delivery", delivery.rawValue) }
      if !deltas.isEmpty { writer.array("deltas", deltas) { $1.write(to: &$0) } }
      if !description.isEmpty { writer.string("description", description) }
      writer.string("fallback", fallbackLanguage)
      writer.integer("files", files)
      writer.string("id", id)
      writer.string("install", install.rawValue)
      writer.integer("installSize", installSize)
      if keyID != defaults.keyID { writer.string("keyId", keyID) }
      writer.string("language", language)
      if !languages.isEmpty { writer.array("languages", languages) { $0.string($1) } }
      writer.integer("maxFrame", maxFrame)
      if !name.isEmpty, name != id { writer.string("name", name) }
      if let opener {
        writer.key("opener")
        opener.write(to: &writer)
      }
      if !platforms.isEmpty { writer.array("platforms", platforms) { $0.string($1) } }
      writer.string("sha256", sha256.hex)
      writer.integer("size", size)
      if let stream {
        writer.key("stream")
        stream.write(to: &writer)
      }
      if !tags.isEmpty { writer.array("tags", tags) { $0.string($1) } }
      if url != defaults.url(id, sha256) { writer.string("url", url) }
      writer.integer("version", version)
    }
  }
}
