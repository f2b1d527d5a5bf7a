import ArgumentParser
import PackDeltas
import PackFormat
import PackProject
import PackReading

/// `packer inspect`
struct Inspect: Verb {
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
      """)

  @Argument(help: "The pack, or a release or its manifest.", completion: .file())
  var file: String

  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    if isManifest { return try showManifest(in: session) }
    let summary = try naming(file) { () throws(PackError) in try PackSummary.read(file) }
    let delta = try delta(summary, in: session)
    let record = SummaryRecord(file: file, summary, delta)
    var fields = [
      ("format", record.format),
      ("kind", record.kind),
      ("pack version", "\(record.packVersion)"),
      ("pack id", record.packID),
      ("key id", record.keyID),
      ("salt", record.salt),
      ("segments", "\(record.segments) of \(record.segmentSize) bytes"),
      ("payload", "\(record.payloadSize) bytes"),
    ]
    if !record.recipients.isEmpty {
      fields.append(("recipients", record.recipients.map { "\($0.keyID) (\($0.kind))" }.joined(separator: ", ")))
    }
    if !record.unknownKeyStanzas.isEmpty {
      let types = record.unknownKeyStanzas.map(String.init).joined(separator: ", ")
      fields.append(("key stanzas", "types \(types), unknown to this build"))
    }
    fields += delta?.fields ?? []
    let sizes = Table.sizes(
      summary.parts.map { ($0.name, Int64(clamping: $0.size), "") }, total: "total")
    session.console.result(record, ["\(file): \(ByteCount(summary.packSize))"] + Table.fields(fields) + sizes)
    return .done
  }

  /// Reads what is in a delta, if a key was given with an option.
  private func delta(_ summary: PackSummary, in session: Session) throws(PackError) -> DeltaRecord? {
    guard !key.references.isEmpty else { return nil }
    guard summary.header.kind == .delta else {
      throw PackError(.usage, "--key is for a delta, and \(file) is a full pack", hint: "packer ls \(ShellWord.path(file)) --key REF")
    }
    let resolved = try session.key(key)
    return DeltaRecord(try DeltaSummary.read(file, key: resolved.key))
  }
}

/// What is in a delta.
private struct DeltaRecord: Encodable {
  let bases: [String]
  let contentRoot: String
  let windows: Int
  let windowSize: Int
  let windowContentSize: UInt64
  let ranges: Int
  let newContents: Int
  let movedFiles: Int

  init(_ summary: DeltaSummary) {
    let head = summary.head
    bases = head.bases.map(\.hex)
    contentRoot = head.target.hex
    windows = head.windows.count
    windowSize = head.windows.reduce(0) { $0 + $1.compressedSize }
    windowContentSize = head.streamSize
    ranges = head.pieces.count
    newContents = head.new.count
    movedFiles = head.moved.count
  }

  var fields: [(String, String)] {
    bases.map { ("over content", $0) } + [
      ("makes content", contentRoot), ("windows", "\(windows), \(windowSize) bytes for \(windowContentSize)"),
      ("new contents", "\(newContents), and \(movedFiles) moved"),
    ]
  }
}

private struct SummaryRecord: Encodable {
  struct Part: Encodable {
    let name: String
    let size: UInt64
  }

  struct Recipient: Encodable {
    let keyID: String
    let kind: String
  }

  let type = "pack"
  let file: String
  let format: String
  let kind: String
  let packVersion: UInt64
  let packID: String
  let keyID: String
  let recipients: [Recipient]
  let unknownKeyStanzas: [UInt16]
  let salt: String
  let segments: UInt64
  let segmentSize: UInt32
  let payloadSize: UInt64
  let packSize: UInt64
  let parts: [Part]
  let delta: DeltaRecord?

  init(file: String, _ summary: PackSummary, _ delta: DeltaRecord?) {
    self.delta = delta
    self.file = file
    format = "\(PackHeader.major).\(summary.header.minor), suite \(PackHeader.suite)"
    kind = "\(summary.header.kind)"
    packVersion = summary.header.packVersion
    packID = summary.header.packID.hex
    keyID = "\(summary.stanzas.keyID)"
    recipients = summary.stanzas.wraps.map { Recipient(keyID: "\($0.keyID)", kind: $0.kind == .x25519 ? "public key" : "shared key") }
    unknownKeyStanzas = summary.stanzas.unknown.map(\.type)
    salt = summary.header.hasDeterministicSalt ? "from key and content" : "random"
    segments = summary.layout.segmentCount
    segmentSize = summary.header.segmentSize
    payloadSize = summary.layout.payloadSize
    packSize = summary.packSize
    parts = summary.parts.map { Part(name: $0.name, size: $0.size) }
  }
}
