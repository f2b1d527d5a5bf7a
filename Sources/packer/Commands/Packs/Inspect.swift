import ArgumentParser

/// `packer inspect`
struct Inspect: OutputVerb, ReadingVerb {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Shows what can be read from a pack or a manifest without a key.",
    discussion: """
      Nothing of this is authenticated, because that needs the key. The parts add up to the size of the file. With the key of a delta, also shows \
      what it was made over and what is in it, which is authenticated; no base is needed. Of a release or its manifest, shows the packs and the \
      deltas to each.

      Examples:
        packer inspect game.pack
        packer inspect game.pack --json
        packer inspect game-2.delta.pack --key game.key
        packer inspect dist
      """,
    shouldDisplay: HelpText.isWhole)

  @Argument(help: "The pack, or a release or its manifest.", completion: .file())
  var file: String

  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    if isManifest { return try showManifest(in: session) }
    let summary = try naming(file) { () throws(PackError) in try PackSummary.read(file) }
    let delta = try delta(summary, in: session)
    let (header, stanzas, layout) = (summary.header, summary.stanzas, summary.layout)
    var fields = [
      ("format", summary.format),
      ("kind", "\(header.kind)"),
      ("pack version", "\(header.packVersion)"),
      ("pack id", "\(header.packID.hex), of the name"),
      ("key id", "\(stanzas.keyID)"),
      ("salt", summary.salt),
      ("segments", "\(layout.segmentCount) of \(header.segmentSize) bytes"),
      ("payload", "\(layout.payloadSize) bytes"),
    ]
    if !summary.recipients.isEmpty {
      fields.append(("recipients", summary.recipients.map { "\($0.keyID) (\($0.kind))" }.joined(separator: ", ")))
    }
    if !stanzas.unknown.isEmpty {
      let types = stanzas.unknown.map { "\($0.type)" }.joined(separator: ", ")
      fields.append(("key stanzas", "types \(types), unknown to this build"))
    }
    fields += delta?.fields ?? []
    let sizes = Table.sizes(
      summary.parts.map { ($0.name, Int64(clamping: $0.size), "") }, total: "total")
    session.console.result(
      summary.json(of: file, delta?.json), ["\(file): \(ByteCount(summary.packSize))"] + Table.fields(fields) + sizes)
    return .done
  }

  /// Reads what is in a delta, if a key was given with an option.
  private func delta(_ summary: PackSummary, in session: Session) throws(PackError) -> DeltaPack? {
    guard !key.references.isEmpty else { return nil }
    guard summary.header.kind == .delta else {
      throw PackError(.usage, "--key is for a delta, and \(file) is a full pack", hint: "packer ls \(ShellWord.path(file)) --key REF")
    }
    let resolved = try session.key(key, for: file)
    return try DeltaPack.open(file, key: resolved)
  }
}

extension PackSummary {
  fileprivate var format: String { "\(PackHeader.major).\(header.minor), suite \(PackHeader.suite)" }
  fileprivate var salt: String { header.hasDeterministicSalt ? "from key and content" : "random" }
  fileprivate var recipients: [(keyID: String, kind: String)] {
    stanzas.wraps.map { ("\($0.keyID)", $0.kind == .x25519 ? "public key" : "shared key") }
  }

  fileprivate func json(of file: String, _ delta: JSON?) -> JSON {
    [
      "type": "pack", "file": .text(file), "format": .text(format), "kind": .text("\(header.kind)"),
      "version": .number(header.packVersion), "packID": .text(header.packID.hex), "keyID": .text("\(stanzas.keyID)"),
      "recipients": .list(recipients.map { ["keyID": .text($0.keyID), "kind": .text($0.kind)] }),
      "unknownKeyStanzas": .list(stanzas.unknown.map { .number(UInt64($0.type)) }), "salt": .text(salt),
      "segments": .number(layout.segmentCount), "segmentSize": .number(header.segmentSize), "payloadSize": .number(layout.payloadSize),
      "size": .number(packSize), "parts": .list(parts.map { ["name": .text($0.name), "size": .number($0.size)] }), "delta": delta,
    ]
  }
}
