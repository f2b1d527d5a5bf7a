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
      if let base = defaults.baseURL {
        writer.key("base")
        writer.string(base)
      }
      if let budget {
        writer.key("budget")
        writer.object { writer in
          for (key, bytes) in budget.named {
            writer.key(key)
            writer.integer(bytes)
          }
        }
      }
      if !catalogue.isEmpty {
        writer.key("catalogue")
        writer.array(catalogue) { $1.write(to: &$0) }
      }
      if withTime {
        writer.key("expires")
        writer.string(expires.description)
        if let issued {
          writer.key("issued")
          writer.string(issued.description)
        }
      }
      if let keyID = defaults.keyID {
        writer.key("keyId")
        writer.string(keyID)
      }
      writer.key("packs")
      writer.array(packs) { writer, pack in pack.write(to: &writer, defaults) }
      writer.key("schema")
      writer.string(Self.schema)
      if withTime {
        writer.key("version")
        writer.integer(version)
      }
    }
    return writer.bytes
  }
}

extension ManifestPack {
  /// Writes the entry without what the defaults give, or the shard.
  func write(to writer: inout CanonicalWriter, _ defaults: ManifestDefaults, isInShard: Bool = false) {
    writer.object { writer in
      if let basePack {
        writer.key("basePack")
        writer.string(basePack)
      }
      writer.key("contentRoot")
      writer.string(contentRoot.hex)
      writer.key("contentSize")
      writer.integer(contentSize)
      if let created {
        writer.key("created")
        writer.string(created.description)
      }
      if !isInShard {
        writer.key("delivery")
        writer.string(delivery.rawValue)
      }
      if !deltas.isEmpty {
        writer.key("deltas")
        writer.array(deltas) { $1.write(to: &$0) }
      }
      if !description.isEmpty {
        writer.key("description")
        writer.string(description)
      }
      if let fallbackLanguage {
        writer.key("fallback")
        writer.string(fallbackLanguage)
      }
      writer.key("files")
      writer.integer(files)
      writer.key("id")
      writer.string(id)
      writer.key("install")
      writer.string(install.rawValue)
      writer.key("installSize")
      writer.integer(installSize)
      if keyID != defaults.keyID {
        writer.key("keyId")
        writer.string(keyID)
      }
      if let language {
        writer.key("language")
        writer.string(language)
      }
      if !languages.isEmpty {
        writer.key("languages")
        writer.array(languages) { $0.string($1) }
      }
      writer.key("maxFrame")
      writer.integer(maxFrame)
      if !name.isEmpty, name != id {
        writer.key("name")
        writer.string(name)
      }
      if !platforms.isEmpty {
        writer.key("platforms")
        writer.array(platforms) { $0.string($1) }
      }
      writer.key("sha256")
      writer.string(sha256.hex)
      writer.key("size")
      writer.integer(size)
      if !tags.isEmpty {
        writer.key("tags")
        writer.array(tags) { $0.string($1) }
      }
      if url != defaults.url(id, sha256) {
        writer.key("url")
        writer.string(url)
      }
      writer.key("version")
      writer.integer(version)
    }
  }
}
