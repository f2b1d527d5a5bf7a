/// A release as a browser follows it: the keys that an app trusts, the manifest, and what was accepted before.
final class ReleaseSession: Conversation {
  /// The public keys, or the keys document, of the page.
  private let trust: [String]
  private let backend = HostBackend()
  private var document: [UInt8] = []
  /// What the host has stored of earlier manifests.
  private var keysRecord: [UInt8]?
  private var accepted: [UInt8]?

  private var verified: VerifiedManifest?
  private var memory: ManifestMemory?
  /// The packs of the shards that were read, by their ids.
  private var listed: [String: ManifestPack] = [:]

  init(trust: [String], path: String) {
    self.trust = trust
    super.init(path: path)
  }

  /// Takes a manifest, and what the host has stored of earlier ones: the record of keys documents, and the memory of what was accepted.
  func take(document: [UInt8], keysRecord: [UInt8], accepted: [UInt8]) {
    self.document = document
    self.keysRecord = keysRecord.isEmpty ? nil : keysRecord
    self.accepted = accepted.isEmpty ? nil : accepted
  }

  /// Follows the keys documents of the manifest. Writes the record that the host has to store, also if the manifest itself is refused afterwards.
  func follow(_ text: inout CanonicalWriter) throws(PackError) {
    let keys = try keys()
    let progress = keys.following(try SignedManifest(document), backend: backend)
    if progress.failure?.code == .unread { throw .unread }
    if let record = progress.keys.record {
      keysRecord = record
      text.string("keysRecord", String(decoding: record, as: UTF8.self))
    }
    if let version = progress.keys.newest?.content.version { text.integer("keysVersion", version) }
    if let failure = progress.failure {
      text.key("failure")
      text.object { $0.members(of: failure) }
    }
  }

  /// The keys that count now.
  private func keys() throws(PackError) -> TrustedKeys {
    let embedded = try TrustedKeys(texts: trust)
    let keys = embedded.restored(from: keysRecord, backend: backend)
    // A record whose signatures the host has not checked yet looks like one that does not hold.
    if isWaiting { throw .unread }
    return keys
  }

  /// Checks the manifest, and writes its packs, and the memory that the host has to store.
  ///
  /// - Parameters:
  ///   - seconds: the time, in seconds since 1970.
  ///   - wasAccepted: whether the host has it from an earlier start: then it may have expired.
  func accept(at seconds: Int64, wasAccepted: Bool, languages: [String], _ text: inout CanonicalWriter) throws(PackError) {
    let keys = try keys()
    let candidate = try SignedManifest(document).verify(trusting: keys, backend: backend)
    let time = ManifestTime(clamping: seconds)
    // A memory that is damaged is as good as none.
    let before = accepted.flatMap { try? ManifestMemory.Accepted(parsing: $0) }
    var memory = ManifestMemory(before, trusting: keys)
    try memory.accept(candidate)
    if !wasAccepted {
      try candidate.manifest.checkExpiry(at: time)
      try keys.checkExpiry(at: time)
    }
    (verified, self.memory, listed) = (candidate, memory, [:])
    if let accepted = memory.accepted { text.string("accepted", String(decoding: accepted.text, as: UTF8.self)) }
    text.integer("version", candidate.manifest.version)
    text.string("expires", candidate.manifest.expires.description)
    text.flag("isExpired", time >= candidate.manifest.expires)
    text.array("signers", candidate.signers) { $0.string($1) }
    describe(candidate.manifest.packs, languages, &text)
    text.array("shards", candidate.manifest.catalogue) { text, shard in
      text.object { text in
        text.string("url", (candidate.manifest.defaults.baseURL ?? "") + shard.fileName)
        text.integer("size", shard.size)
      }
    }
    forget()
  }

  /// Reads a shard of the accepted manifest's catalogue, and writes its packs.
  func read(shard number: Int, _ bytes: [UInt8], languages: [String], _ text: inout CanonicalWriter) throws(PackError) {
    guard let manifest = verified?.manifest, manifest.catalogue.indices.contains(number) else {
      throw PackError(.usage, "the release has no such shard")
    }
    let packs = try ShardFile.packs(bytes.byteSpan, number, of: manifest, backend: backend)
    for pack in packs { listed[pack.id] = pack }
    describe(packs, languages, &text)
  }

  /// Checks that a pack of the release is not older than one that was used before, and writes the memory that the host has to store.
  func use(_ id: String, _ text: inout CanonicalWriter) throws(PackError) {
    let pack = try pack(id)
    try memory?.check(pack)
    memory?.note([pack])
    if let accepted = memory?.accepted { text.string("accepted", String(decoding: accepted.text, as: UTF8.self)) }
  }

  /// A pack of the manifest, or of a shard that was read.
  func pack(_ id: String) throws(PackError) -> ManifestPack {
    guard let pack = verified?.manifest.packs.first(where: { $0.id == id }) ?? listed[id] else {
      throw PackError(.wrongPack, "the release has no pack '\(printable(id))'")
    }
    return pack
  }

  private func describe(_ packs: [ManifestPack], _ languages: [String], _ text: inout CanonicalWriter) {
    let (user, base) = (DeviceProfile(platform: nil, languages: languages), verified?.manifest.defaults.baseURL)
    text.array("packs", packs) { text, pack in
      text.object { text in
        text.string("id", pack.id)
        text.integer("version", pack.version)
        text.string("url", pack.url)
        text.integer("size", pack.size)
        text.string("sha256", pack.sha256.hex)
        text.string("contentRoot", pack.contentRoot.hex)
        text.integer("contentSize", pack.contentSize)
        text.integer("files", pack.files)
        text.string("keyID", pack.keyID)
        text.string("delivery", pack.delivery.rawValue)
        text.string("name", pack.name.isEmpty ? pack.id : pack.name)
        text.string("description", pack.description)
        text.array("tags", pack.tags) { $0.string($1) }
        text.array("platforms", pack.platforms) { $0.string($1) }
        text.string("language", pack.language)
        if let stream = pack.stream {
          text.key("lead")
          text.object { text in
            text.string("url", (base ?? "") + ManifestPack.leadName(pack.id, stream.sha256))
            text.integer("size", stream.size)
            text.string("sha256", stream.sha256.hex)
            text.integer("launch", stream.launch)
            text.string("leaves", stream.leaves.hex)
            text.integer("tail", stream.tail)
          }
        }
        text.flag("isForUser", pack.platforms.isEmpty && user.accepts(pack))
      }
    }
  }
}
