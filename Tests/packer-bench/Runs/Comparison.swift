/// The comparisons on one corpus: each command of packer and the tools that could be used instead, in turns.
struct Comparison {
  /// The parts that can be selected.
  enum Part: String, CaseIterable {
    case pack, pack19, unpack, one, list, verify, peers
  }

  let arena: Arena
  let corpus: MeasuredCorpus
  private let limits: CorpusLimits
  private let disk = Disk()
  private let place: String
  /// Small trees take milliseconds: their times vary more, and additional rounds cost little.
  private let rounds: Int

  init(_ corpus: MeasuredCorpus, arena: Arena) {
    self.corpus = corpus
    self.arena = arena
    limits = CorpusLimits(shape: corpus.shape)
    place = "\(arena.scratch)/\(corpus.name)"
    rounds = corpus.shape == .small ? 3 * arena.rounds : arena.rounds
  }

  private static let ours = "packer"

  private var ourPack: String { "\(place).pack" }
  private var referenceOutput: String { "\(place).reference" }
  private var tree: String { "\(place).tree" }
  private let reference = Peer.reference(level: 3)

  /// Runs the parts, and removes their outputs at the end.
  func run(_ parts: Set<Part>) throws(PackError) {
    try arena.prepareReference()
    if parts.contains(.pack) { try comparePacking(level: nil) }
    if parts.contains(.pack19) { try comparePacking(level: 19) }
    // The inputs of the other parts.
    if !disk.exists(ourPack) { _ = try arena.stopwatch.run(arena.pack(corpus, to: ourPack, level: nil)) }
    if !disk.exists(referenceOutput) { _ = try arena.stopwatch.run(filled(reference.pack, referenceOutput)) }
    if parts.contains(.unpack) { try compareUnpacking() }
    if parts.contains(.one) { try compareOneFile() }
    if parts.contains(.list) { try compareListing() }
    if parts.contains(.verify) { try compareVerifying() }
    if parts.contains(.peers) { try showPeers() }
    for output in [ourPack, referenceOutput] { try disk.removeAll(output) }
  }

  private func filled(_ command: String, _ output: String) -> String {
    arena.filled(command, corpus: corpus, output: output, tree: tree)
  }

  // MARK: Packing

  private func comparePacking(level: Int?) throws(PackError) {
    let peer = Peer.reference(level: level ?? 3)
    let pack = level == nil ? ourPack : "\(place).slow.pack"
    let other = level == nil ? referenceOutput : "\(place).slow.reference"
    let name = level.map { "pack -\($0)" } ?? "pack"
    let results = try arena.contest(rounds: level == nil ? rounds : min(rounds, 3)).run([
      Contest.Entrant(
        name: Self.ours, preparation: "rm -f \(pack)", script: arena.pack(corpus, to: pack, level: level.map { "\($0)" }),
        output: corpus.footprint,
        check: { () throws(PackError) in try requireRoundTrip(arena.unpack(pack, to: tree), "packer \(name)") }),
      Contest.Entrant(
        name: peer.name, preparation: "rm -f \(other)", script: filled(peer.pack, other), output: corpus.footprint,
        check: { () throws(PackError) in try requireRoundTrip("mkdir \(tree); " + filled(peer.unpack, other), peer.name) }),
    ])
    let isSlow = level != nil
    try compare(results, name, "wall", peer.name, isSlow ? limits.slowPackWall : limits.packWall) { $0.wall }
    try compare(results, name, "cpu", peer.name, isSlow ? limits.slowPackCPU : limits.packCPU) { $0.cpu }
    let sizes = (Double(try disk.size(pack)), Double(try disk.size(other)))
    try arena.recorder.add(
      Figure(
        corpus: corpus.name, verb: name, quantity: "size", against: peer.name, values: [sizes.0 / sizes.1], ours: sizes.0, theirs: sizes.1,
        unit: "B", limit: isSlow ? limits.slowPackSize : limits.packSize))
    try compareMemory(results, name, peer.name, isSlow ? limits.slowPackMemory : limits.packMemory)
    if isSlow {
      try disk.removeAll(pack)
      try disk.removeAll(other)
    }
  }

  private func requireRoundTrip(_ unpack: String, _ name: String) throws(PackError) {
    try disk.removeAll(tree)
    _ = try arena.stopwatch.run(unpack)
    try ContentCheck.requireSameTree(tree, as: corpus.directory, name: name)
    try disk.removeAll(tree)
  }

  // MARK: Reading

  private func compareUnpacking() throws(PackError) {
    let plain = "\(place).tar"
    _ = try arena.stopwatch.run("tar -C \(corpus.directory) -cf \(plain) .")
    let results = try arena.contest(rounds: rounds).run([
      unpacking(Self.ours, arena.unpack(ourPack, to: tree), makesTree: true),
      unpacking(reference.name, filled(reference.unpack, referenceOutput)),
      unpacking("tar -x", "tar -C \(tree) -xf \(plain)"),
    ])
    try disk.removeAll(plain)
    try compare(results, "unpack", "wall", reference.name, limits.unpackWall) { $0.wall }
    try compare(results, "unpack", "cpu", reference.name, limits.unpackCPU) { $0.cpu }
    try compare(results, "unpack", "wall", "tar -x", limits.unpackAgainstTar) { $0.wall }
    try showMemory(results, "unpack")
  }

  private func unpacking(_ name: String, _ script: String, makesTree: Bool = false) -> Contest.Entrant {
    Contest.Entrant(
      name: name, preparation: "rm -rf \(tree)" + (makesTree ? "" : "; mkdir \(tree)"), script: script, output: corpus.footprint,
      check: { () throws(PackError) in try ContentCheck.requireSameTree(tree, as: corpus.directory, name: name) },
      cleanup: "rm -rf \(tree)")
  }

  private func compareOneFile() throws(PackError) {
    let output = "\(place).one"
    let original = "\(corpus.directory)/\(corpus.middle.path)"
    func reading(_ name: String, _ script: String) -> Contest.Entrant {
      Contest.Entrant(
        name: name, script: "\(script) >\(output)",
        check: { () throws(PackError) in try ContentCheck.requireSameFile(output, as: original, name: name) },
        cleanup: "rm -f \(output)")
    }
    let results = try arena.contest(rounds: 2 * rounds, checksEveryRound: true).run([
      reading(Self.ours, "exec \(arena.packer) cat \(ourPack) \(corpus.middle.path) --key \(arena.scratch)/key"),
      reading(reference.name, filled(reference.one, referenceOutput)),
    ])
    try compare(results, "cat", "wall", reference.name, limits.one) { $0.wall }
  }

  private func compareListing() throws(PackError) {
    let sevenZip = Peer.sevenZip()
    let archive = "\(place).7z"
    _ = try arena.stopwatch.run(filled(sevenZip.pack, archive))
    let results = try arena.contest(rounds: 2 * rounds).run([
      listing(Self.ours, "exec \(arena.packer) ls \(ourPack) --key \(arena.scratch)/key"),
      listing(sevenZip.name, filled(sevenZip.list, archive), of: sevenZip),
      listing(reference.name, filled(reference.list, referenceOutput), of: reference),
    ])
    try disk.removeAll(archive)
    try compare(results, "ls", "wall", sevenZip.name, limits.listAgainst7z) { $0.wall }
    try compare(results, "ls", "wall", reference.name, limits.listAgainstReference) { $0.wall }
  }

  private func listing(_ name: String, _ script: String, of peer: Peer? = nil) -> Contest.Entrant {
    let output = "\(place).list"
    return Contest.Entrant(
      name: name, script: "\(script) >\(output)",
      check: { () throws(PackError) in
        try ContentCheck.requireSameNames(
          output, as: corpus.items, name: name, column: peer?.listColumn ?? 0, isFile: peer?.listsFile ?? { _ in true })
      }, cleanup: "rm -f \(output)")
  }

  private func compareVerifying() throws(PackError) {
    let repository = "\(place).restic"
    try disk.removeAll(repository)
    _ = try arena.stopwatch.run(filled(Peer.restic.setup, repository))
    _ = try arena.stopwatch.run(filled(Peer.restic.pack, repository))
    let results = try arena.contest(rounds: rounds).run([
      Contest.Entrant(
        name: Self.ours, script: "exec \(arena.packer) check \(ourPack) --key \(arena.scratch)/key --allow-unportable-paths --quiet"),
      Contest.Entrant(name: "restic check --read-data", script: filled(Peer.restic.verify, repository)),
    ])
    try disk.removeAll(repository)
    try compare(results, "verify", "cpu", "restic check --read-data", limits.verifyCPU) { $0.cpu }
    try showMemory(results, "verify")
  }

  // MARK: Other tools

  /// Measures all other tools, command by command, beside packer. There are no limits, because the tools do different things.
  private func showPeers() throws(PackError) {
    let rounds = arena.rounds > 3 ? 2 : 1
    let peers = [reference] + Peer.others
    func output(_ peer: Peer) -> String { "\(place).peer.\(peers.firstIndex { $0.name == peer.name } ?? 0)" }
    var sizes: [String: UInt64] = [:]

    func show(_ verb: String, ours: Contest.Entrant, _ entrant: (Peer) -> Contest.Entrant) throws(PackError) {
      let results = try arena.contest(rounds: rounds).run([ours] + peers.map(entrant))
      for name in [Self.ours] + peers.map(\.name) {
        if verb == "pack" {
          sizes[name] = try disk.size(name == Self.ours ? ourPack : output(peers.first { $0.name == name } ?? reference))
        }
        let record = PeerRecord(
          corpus: corpus.name, peer: name, verb: verb, rounds: results[name].count, wall: results.median(name) { $0.wall },
          cpu: results.median(name) { $0.cpu }, memory: results.median(name) { Double($0.peakMemory) } / 1_048_576, size: sizes[name] ?? 0,
          ratio: results.ratios(name, to: Self.ours) { $0.wall }.median, lacks: peers.first { $0.name == name }?.lacks ?? "")
        try arena.recorder.add(record, saying: record.line)
      }
    }

    try show(
      "pack", ours: Contest.Entrant(name: Self.ours, preparation: "rm -f \(ourPack)", script: arena.pack(corpus, to: ourPack, level: nil))
    ) { peer in
      let archive = output(peer)
      return Contest.Entrant(
        name: peer.name, preparation: "rm -rf \(archive)" + (peer.setup.isEmpty ? "" : "; \(filled(peer.setup, archive)) >/dev/null"),
        script: filled(peer.pack, archive))
    }
    try show("unpack", ours: unpacking(Self.ours, arena.unpack(ourPack, to: tree), makesTree: true)) { peer in
      unpacking(peer.name, filled(peer.unpack, output(peer)))
    }
    let one = "\(place).one"
    try show(
      "cat",
      ours: Contest.Entrant(
        name: Self.ours, script: "exec \(arena.packer) cat \(ourPack) \(corpus.middle.path) --key \(arena.scratch)/key >\(one)")
    ) { peer in
      Contest.Entrant(
        name: peer.name, script: "\(filled(peer.one, output(peer))) >\(one)",
        check: { () throws(PackError) in
          try ContentCheck.requireSameFile(one, as: "\(corpus.directory)/\(corpus.middle.path)", name: peer.name)
        }, cleanup: "rm -f \(one)")
    }
    try show("ls", ours: listing(Self.ours, "exec \(arena.packer) ls \(ourPack) --key \(arena.scratch)/key")) { peer in
      listing(peer.name, filled(peer.list, output(peer)), of: peer)
    }
    try show(
      "verify",
      ours: Contest.Entrant(
        name: Self.ours, script: "exec \(arena.packer) check \(ourPack) --key \(arena.scratch)/key --allow-unportable-paths --quiet")
    ) { peer in
      Contest.Entrant(name: peer.name, script: filled(peer.verify, output(peer)))
    }
    for peer in peers { try disk.removeAll(output(peer)) }
  }

  // MARK: Figures

  private func compare(
    _ results: Contest.Results, _ verb: String, _ quantity: String, _ peer: String, _ limit: Limit?, _ value: (Measurement) -> Double
  ) throws(PackError) {
    try arena.recorder.add(
      Figure(
        corpus: corpus.name, verb: verb, quantity: quantity, against: peer, values: results.ratios(Self.ours, to: peer, value),
        ours: results.median(Self.ours, value), theirs: results.median(peer, value), unit: "s", limit: limit))
  }

  private func compareMemory(_ results: Contest.Results, _ verb: String, _ peer: String, _ limit: Limit?) throws(PackError) {
    func mebibytes(_ measurement: Measurement) -> Double { Double(measurement.peakMemory) / 1_048_576 }
    try arena.recorder.add(
      Figure(
        corpus: corpus.name, verb: verb, quantity: "memory", against: peer, values: results.ratios(Self.ours, to: peer, mebibytes),
        ours: results.median(Self.ours, mebibytes), theirs: results.median(peer, mebibytes), unit: "MiB", limit: limit))
  }

  private func showMemory(_ results: Contest.Results, _ verb: String) throws(PackError) {
    let values = results[Self.ours].map { Double($0.peakMemory) / 1_048_576 }
    try arena.recorder.add(
      Figure(
        corpus: corpus.name, verb: verb, quantity: "memory", against: "", values: values, ours: values.median, theirs: 0, unit: "MiB",
        limit: limits.readMemory))
  }
}

/// The measurements of one tool and one command.
struct PeerRecord: Encodable {
  let type = "peer"
  let corpus: String
  let peer: String
  let verb: String
  let rounds: Int
  let wall: Double
  let cpu: Double
  /// The memory of its largest process, in MiB.
  let memory: Double
  /// The size of the archive in bytes.
  let size: UInt64
  /// Its wall time divided by packer's.
  let ratio: Double
  let lacks: String

  var line: String {
    Recorder.left(corpus, 10) + Recorder.left(verb, 8) + Recorder.left(peer, 28) + Recorder.right(Recorder.amount(wall, "s"), 12)
      + Recorder.right(Recorder.amount(cpu, "s"), 12) + Recorder.right(Recorder.amount(memory, "MiB"), 12)
      + Recorder.right("\(ByteCount(size))", 12) + Recorder.right("\(Recorder.decimal(ratio, 2)) times packer", 24)
  }
}
