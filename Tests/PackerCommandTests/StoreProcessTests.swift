import Foundation
import TestSupport
import Testing

@Suite("A store that several processes change")
struct StoreProcessTests {
  @Test("is intact, and keeps the active versions, whenever a process is killed", arguments: [false, true])
  func killed(changesLittle: Bool) throws {
    var random = SeededGenerator(for: "a store whose processes are killed")
    let releases = try ReleaseHistory.shared(changesLittle: changesLittle).get()
    let player = StorePlayer(releases, store: "phone")
    let wanted = Effort.number(quick: 4, full: 200)
    var took = try player.begin()
    var kills = 0
    var rounds = 0
    while kills < wanted {
      rounds += 1
      guard rounds < 40 * wanted else { throw ScriptError("only \(kills) of \(rounds) processes were killed in time") }
      if random.number(below: 8) == 0 { took = try player.begin() }
      let action = StoreAction.any(&random, newest: player.newest, of: releases.count)
      let before = try player.running()
      // There must be a version on trial to confirm.
      if case .confirm = action { _ = try player.play(.activate(ReleaseHistory.ids[random.number(below: 2)], isConfirmed: false)) }
      let process = try player.start(action)
      // An installation takes longest. Everything else ends within half of that time.
      let isLong = if case .install = action { true } else { false }
      usleep(UInt32(random.number(below: Int(took * 1_000_000 / (isLong ? 1 : 2)) + 1)))
      process.kill()
      if try process.wait(seconds: 0) == 128 + SIGKILL { kills += 1 }
      try player.check(after: action, before: before)
    }
    print("killed \(kills) of \(rounds) processes\(changesLittle ? ", with \(player.rewritten) packs made of deltas" : "")")
    #expect((player.rewritten > 0) == changesLittle)
  }

  @Test("stays intact when two processes change it at the same time")
  func two() throws {
    var random = SeededGenerator(for: "a store that two processes work on")
    let releases = try ReleaseHistory.shared(changesLittle: false).get()
    // Failed versions stay failed, so each round needs a new store.
    for round in 0..<Effort.number(quick: 1, full: 30) {
      let name = "phone-\(round)"
      try StorePlayer(releases, store: name).begin()
      let end = Date(timeIntervalSinceNow: 2)
      let seeds = [random.next(), random.next()]
      let outcomes = Outcomes()
      DispatchQueue.concurrentPerform(iterations: seeds.count) { number in
        var own = SeededGenerator(seed: seeds[number])
        let player = StorePlayer(releases, store: name, owner: number)
        do {
          while Date() < end { outcomes.add(try player.play(.any(&own, newest: player.newest, of: releases.count))) }
        } catch {
          outcomes.fail(error)
        }
      }
      #expect(outcomes.failures.isEmpty, "\(outcomes.failures.joined(separator: "\n"))")
      #expect(outcomes.statuses[0, default: 0] > 0)
      let player = StorePlayer(releases, store: name)
      try player.checkWhole(isThorough: true)
      print(
        "two processes, round \(round): \(outcomes.statuses.sorted { $0.key < $1.key }.map { "\($0.value) × \($0.key)" }.joined(separator: ", "))"
      )
    }
  }
}

/// The exit statuses and failures of two threads.
private final class Outcomes: @unchecked Sendable {
  private let lock = NSLock()
  private(set) var statuses: [Int32: Int] = [:]
  private(set) var failures: [String] = []

  func add(_ status: Int32) {
    lock.withLock { statuses[status, default: 0] += 1 }
  }

  func fail(_ error: any Error) {
    lock.withLock { failures.append("\(error)") }
  }
}

extension SeededGenerator {
  fileprivate mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}

/// An action on a store.
enum StoreAction: CustomStringConvertible {
  case install(Int)
  case activate(String, isConfirmed: Bool)
  /// Confirms the version that the same player activated last.
  case confirm
  case rollback(String)
  case purge(Int)
  case remove(String)
  case setRight
  case look

  /// Returns a random action.
  ///
  /// - Parameter newest: The release that was installed last. Installations mostly take this one or the next one.
  static func any(_ random: inout SeededGenerator, newest: Int, of count: Int) -> StoreAction {
    let id = ReleaseHistory.ids[random.number(below: ReleaseHistory.ids.count)]
    return switch random.number(below: 19) {
    case 0..<8: .install(random.number(below: 6) == 0 ? random.number(below: count) + 1 : min(count, newest + random.number(below: 2)))
    case 8..<12: .activate(id, isConfirmed: random.number(below: 3) > 0)
    case 12..<14: .confirm
    case 14: .rollback(id)
    case 15: .purge(1 + random.number(below: 3_000_000))
    case 16: .remove(id)
    case 17: .setRight
    default: .look
    }
  }

  /// Whether the action may remove an active pack.
  var mayTakeAway: Bool {
    switch self {
    case .rollback, .purge, .remove: true
    default: false
    }
  }

  var description: String {
    switch self {
    case .install(let release): "install release \(release)"
    case .activate(let id, let isConfirmed): "activate \(id)\(isConfirmed ? " for good" : "")"
    case .confirm: "confirm"
    case .rollback(let id): "roll back \(id)"
    case .purge(let bytes): "purge \(bytes)"
    case .remove(let id): "remove \(id)"
    case .setRight: "reconcile"
    case .look: "usage"
    }
  }
}

/// A sequence of releases of two packs, each with its sources.
final class ReleaseHistory: Sendable {
  let root: String
  let count = Effort.number(quick: 4, full: 5)
  let changesLittle: Bool
  static let ids = ["core", "movie"]
  static let key = "game.key"

  private static let changing = Result { try ReleaseHistory(changesLittle: false) }
  private static let lasting = Result { try ReleaseHistory(changesLittle: true) }

  /// Returns the releases, which are made once.
  static func shared(changesLittle: Bool) -> Result<ReleaseHistory, any Error> { changesLittle ? lasting : changing }

  /// - Parameter changesLittle: Whether most content stays as it is, so that there are deltas from each release to the next ones.
  private init(changesLittle: Bool) throws {
    self.changesLittle = changesLittle
    root = try TestPlace.newPath()
    try write(
      Data(
        """
        serve: {baseURL: "https://cdn.example.com/"}
        key: file:\(Self.key)
        signKey: file:game.sign.key
        packs:
          - {id: core, root: build/core, delivery: prefetch}
          - {id: movie, root: build/movie, delivery: onDemand, install: packed}

        """.utf8), to: "packer.yml")
    try run(["key", "new", "-o", Self.key])
    try run(["key", "new", "--signing", "-o", "game.sign.key"])
    for release in 1...count {
      var random = SeededGenerator(seed: UInt64(release))
      for file in 0..<20 where release == 1 || !changesLittle || file % 5 == release % 5 {
        try write(Data(random.bytes(30_000)), to: "build/core/level-\(file)/map.bin")
      }
      if release == 1 || !changesLittle { try write(Data(random.bytes(1_200_000)), to: "build/movie/intro.mp4") }
      if changesLittle { try write(Data(random.bytes(90_000)), to: "build/movie/scene-\(release % 2).mp4") }
      try run(["build", "--quiet"])
      try run(["release", "record"])
      try FileManager.default.copyItem(atPath: path("dist"), toPath: path("dist-\(release)"))
      try FileManager.default.copyItem(atPath: path("build"), toPath: path("build-\(release)"))
    }
  }

  func path(_ name: String) -> String { "\(root)/\(name)" }

  private func write(_ bytes: Data, to name: String) throws {
    let file = URL(fileURLWithPath: path(name))
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try bytes.write(to: file)
  }

  private func run(_ words: [String]) throws {
    let tool = try ToolProcess(words, in: root, variables: Self.variables, output: path("stdout"), errors: path("stderr"))
    guard try tool.wait(seconds: 120) == 0 else {
      throw ScriptError(
        "\(words): \(FileManager.default.contents(atPath: path("stderr")).map { String(decoding: $0, as: UTF8.self) } ?? "")")
    }
  }

  static let variables: [String: String] = {
    var variables = ["LC_ALL": "C.UTF-8", "TERM": "dumb"]
    for name in ["PATH", "ASAN_OPTIONS", "TSAN_OPTIONS", "LD_LIBRARY_PATH", "PACKER_FAULT"] {
      variables[name] = ProcessInfo.processInfo.environment[name]
    }
    return variables
  }()
}

/// Runs `packer store` commands on a store, one process after the other.
private final class StorePlayer {
  private let releases: ReleaseHistory
  private let store: String
  private let owner: Int
  private var token = ""
  /// The newest release whose installation was started.
  private(set) var newest = 1
  /// How many packs that were made of deltas were compared.
  private(set) var rewritten = 0

  private static let deadline: TimeInterval = 60

  init(_ releases: ReleaseHistory, store: String, owner: Int = 0) {
    self.releases = releases
    self.store = store
    self.owner = owner
  }

  /// Makes a new store with the first release, and updates it to the second one if that has deltas.
  ///
  /// - Returns: The duration of the first installation in seconds.
  @discardableResult
  func begin() throws -> Double {
    try? FileManager.default.removeItem(atPath: releases.path(store))
    newest = 1
    let start = Date()
    try require(.install(1))
    let took = -start.timeIntervalSinceNow
    for id in ReleaseHistory.ids { try require(.activate(id, isConfirmed: true)) }
    if releases.changesLittle {
      try require(.install(2))
      for id in ReleaseHistory.ids { try require(.activate(id, isConfirmed: true)) }
    }
    return took
  }

  private func require(_ action: StoreAction) throws {
    let status = try play(action)
    guard status == 0 else { throw ScriptError("\(words(for: action)) ends with \(status): \(said("stderr"))") }
  }

  func start(_ action: StoreAction) throws -> ToolProcess {
    if case .install(let release) = action { newest = max(newest, release) }
    return try start(words(for: action))
  }

  private func start(_ words: [String]) throws -> ToolProcess { try run(["store"] + words + ["--store", store]) }

  private func run(_ words: [String]) throws -> ToolProcess {
    try ToolProcess(words, in: releases.root, variables: ReleaseHistory.variables, output: file("stdout"), errors: file("stderr"))
  }

  private func words(for action: StoreAction) -> [String] {
    switch action {
    case .install(let release): ["install", "dist-\(release)", "--quiet"]
    case .activate(let id, let isConfirmed): ["activate", id, "--quiet"] + (isConfirmed ? ["--confirmed"] : [])
    case .confirm: ["confirm", token.isEmpty ? "core@1-\(String(repeating: "0", count: 64))-\(String(repeating: "0", count: 32))" : token]
    case .rollback(let id): ["rollback", id]
    case .purge(let bytes): ["purge", "--free", "\(bytes)"]
    case .remove(let id): ["remove", id]
    case .setRight: ["reconcile", "--quiet"]
    case .look: ["usage"]
    }
  }

  /// The expected exit statuses: done, findings, input missing, and cannot write (store busy or in use).
  private static let expected: Set<Int32> = [0, 1, 66, 73]

  /// Runs an action to its end, and returns the exit status.
  func play(_ action: StoreAction) throws -> Int32 {
    let status = try start(action).wait(seconds: Self.deadline)
    // The other process may adopt the next manifest while a release is being installed.
    let isOvertaken = status == 12 && said("stderr").contains("but the manifest says")
    guard Self.expected.contains(status) || isOvertaken else {
      throw ScriptError("\(words(for: action)) ends with \(status): \(said("stderr"))")
    }
    if case .activate(_, isConfirmed: false) = action, status == 0 {
      let text = said("stdout").trimmingCharacters(in: .whitespacesAndNewlines)
      // If the version is current already, the output is a sentence and not a token.
      if !text.contains(" ") { token = text }
    }
    return status
  }

  // MARK: Checks

  /// Returns the active packs and their versions.
  func running() throws -> [String: Int] {
    var running: [String: Int] = [:]
    for pack in try list() where ["current", "trial"].contains(pack["state"] as? String) {
      guard let id = pack["id"] as? String, let version = pack["version"] as? Int else { throw ScriptError("odd record: \(pack)") }
      if pack["state"] as? String == "trial" || running[id] == nil { running[id] = version }
    }
    return running
  }

  /// Reconciles the store after a kill, and checks all of it.
  func check(after action: StoreAction, before: [String: Int]) throws {
    try command(["reconcile"])
    let now = try running()
    for id in before.keys where now[id] == nil && !action.mayTakeAway {
      throw ScriptError("\(id) \(before[id] ?? 0) is gone after a kill of: \(action)")
    }
    try checkWhole(isThorough: false)
  }

  /// Checks that all installed packs are the released ones, and that no temporary files are left.
  func checkWhole(isThorough: Bool) throws {
    if isThorough { try command(["reconcile"]) }
    try command(["reconcile", "--json"] + (isThorough ? ["--thorough"] : []))
    guard !said("stdout").contains("\"finding\"") else { throw ScriptError("repaired twice: \(said("stdout"))") }
    for folder in ["staging", "trash", "uses"] {
      let left = (try? FileManager.default.contentsOfDirectory(atPath: releases.path("\(store)/\(folder)"))) ?? []
      guard left.isEmpty else { throw ScriptError("\(folder) contains \(left)") }
    }
    for pack in try list() {
      guard let id = pack["id"] as? String, let version = pack["version"] as? Int, let path = pack["path"] as? String else {
        throw ScriptError("odd record: \(pack)")
      }
      let isPacked = pack["install"] as? String == "packed"
      try compare(path.hasPrefix("/") ? path : releases.path(path), id, version, isPacked: isPacked)
    }
  }

  private func compare(_ path: String, _ id: String, _ version: Int, isPacked: Bool) throws {
    let source = releases.path("build-\(version)/\(id)")
    var tree = path
    if isPacked {
      tree = releases.path("\(store).\(owner).tree")
      try? FileManager.default.removeItem(atPath: tree)
      try unpack(path, to: tree)
      if try !isReleased(path, id, version) {
        guard releases.changesLittle else { throw ScriptError("\(path) differs from the released pack") }
        rewritten += 1
      }
    }
    guard try Self.tree(source) == Self.tree(tree) else { throw ScriptError("\(path) differs from \(source)") }
  }

  /// Whether a file of the store is the published one.
  private func isReleased(_ path: String, _ id: String, _ version: Int) throws -> Bool {
    let files = FileManager.default
    let names = try files.contentsOfDirectory(atPath: releases.path("dist-\(version)"))
    return names.contains { $0.hasPrefix("\(id)-") && files.contentsEqual(atPath: path, andPath: releases.path("dist-\(version)/\($0)")) }
  }

  private func unpack(_ path: String, to tree: String) throws {
    let status = try run(["unpack", path, "-C", tree, "--key", ReleaseHistory.key, "--quiet"]).wait(seconds: Self.deadline)
    guard status == 0 else { throw ScriptError("\(path) cannot be unpacked (\(status)): \(said("stderr"))") }
  }

  private static func tree(_ root: String) throws -> [String: Data] {
    guard let walk = FileManager.default.enumerator(atPath: root) else { throw ScriptError("\(root) is not a directory") }
    var files: [String: Data] = [:]
    for case let item as String in walk { files[item] = FileManager.default.contents(atPath: "\(root)/\(item)") ?? Data() }
    guard !files.isEmpty else { throw ScriptError("\(root) is empty") }
    return files
  }

  private func list() throws -> [[String: Any]] {
    try command(["list", "--json"])
    return try said("stdout").split(separator: "\n").compactMap { line in
      let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return record?["type"] as? String == "pack" ? record : nil
    }
  }

  /// Runs a command that must succeed.
  private func command(_ words: [String]) throws {
    let status = try start(words).wait(seconds: Self.deadline)
    guard status == 0 else { throw ScriptError("\(words) ends with \(status): \(said("stdout"))\(said("stderr"))") }
  }

  private func file(_ name: String) -> String { releases.path("\(store).\(owner).\(name)") }

  private func said(_ name: String) -> String {
    FileManager.default.contents(atPath: file(name)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
