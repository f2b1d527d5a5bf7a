import ArgumentParser

/// `packer-bench delivery`
struct DeliveryCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delivery", abstract: "Measures the processor time of a downloader extension's content request.",
    discussion: """
      The manifest has the largest allowed size: 2 000 packs in 1 MiB. It is verified and parsed, and a plan is made: on a device without packs, on \
      one where all downloads are in progress, and on one where the system has forgotten them. Then the plan is recorded, with one file for each \
      pack that changes. The state is below the scratch directory.
      """)

  @OptionGroup var options: ArenaOptions

  /// The state of the device before the request.
  private enum Form: String, CaseIterable {
    case new, known, forgotten
  }

  func run() async throws {
    let arena = try options.makeArena()
    let disk = Disk()
    let place = "\(arena.scratch)/delivery"
    if disk.exists(place) { try disk.removeAll(place) }
    try disk.makeDirectories(place)
    let key = try SigningKey.random()
    let short = try Self.document(filling: 1, signedBy: key).count
    let document = try Self.document(filling: 1 + (Manifest.largestSize - short) / 2000, signedBy: key)
    let keys = [key.publicKey]
    var planning: [Form: [Double]] = [:]
    var recording: [Form: [Double]] = [:]
    var policy = DeliveryPolicy()
    policy.largestBatch = 2000
    for round in 0..<arena.rounds {
      let path = "\(place)/state-\(round)"
      for form in Form.allCases {
        let start = Stopwatch.threadTime()
        let state = try SharedState(directory: path, store: "\(place)/store", policy: policy)
        let manifest = try state.accept(document) { (signed) throws(PackError) in try signed.checkSignatures(trusting: TrustedKeys(keys)) }
        // After 25 hours without news, a download counts as forgotten.
        let time = state.time + (form == .forgotten ? 90_000 : 0)
        let facts = DeliveryFacts(form == .new ? .install : .periodic, at: time)
        let content = try state.content()
        let pure = DeliveryPlan(for: manifest, records: content.records, files: content.files, facts: facts, policy: policy)
        let planned = Stopwatch.threadTime()
        planning[form, default: []].append(planned - start)
        let plan = try state.plan(for: manifest, facts: facts).plan
        recording[form, default: []].append(Stopwatch.threadTime() - planned)
        guard plan.downloads == pure.downloads else { throw PackError(.internalError, "two plans with the same input differ") }
        guard form == .known ? plan.underWay.count == 2000 : plan.downloads.count == 2000 else {
          throw PackError(
            .internalError, "the plan is not the expected one: \(plan.downloads.count) downloads, \(plan.underWay.count) under way")
        }
      }
    }
    for form in Form.allCases {
      try arena.recorder.add(figure("content request of an extension, 2000 packs \(form.rawValue)", planning[form] ?? [], Limit(0.1)))
      try arena.recorder.add(figure("the same again, and recorded", recording[form] ?? [], nil))
    }
    try disk.removeAll(place)
  }

  private func figure(_ what: String, _ seconds: [Double], _ limit: Limit?) -> Figure {
    Figure(
      corpus: "store", verb: what, quantity: "cpu", against: "", values: seconds, ours: seconds.median, theirs: 0, unit: "s", limit: limit)
  }

  /// Returns a manifest with the largest number of packs, each with a description of `filling` bytes.
  private static func document(filling: Int, signedBy key: borrowing SigningKey) throws(PackError) -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    let packs = (0..<2000).map { number in
      ManifestPack(
        id: "Level-of-the-game-\(number)", version: 12, url: "https://cdn.example.com/levels/Level-of-the-game-\(number).pack",
        size: 1_000_000, sha256: (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) },
        contentRoot: [UInt8](repeating: 7, count: 32), contentSize: 2_000_000, installSize: 3_000_000, files: 3, maxFrame: 32_768,
        keyID: "e545120e613dd715", delivery: number % 10 == 0 ? .essential : .prefetch, install: .unpacked,
        tags: ["level", "world-\(number / 10)"], name: "Level \(number)", description: String(repeating: "d", count: filling))
    }
    return try Manifest(sample: packs).signed(by: key).bytes
  }
}
