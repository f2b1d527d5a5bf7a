import Foundation
import PackFiles
import PackFormat
import PackManifest
import TestSupport
import Testing

@testable import PackProject

@Suite("A proposal")
struct ProposalTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func add(_ paths: [String], _ content: String? = nil) throws {
    for path in paths { try directory.write((content ?? "content of \(path)").utf8, to: path) }
  }

  private func propose(_ scanned: String = "build", jobs: Int = 2) async throws -> ConfigurationProposal {
    try await ConfigurationProposal.make(for: directory(scanned), configuration: directory("packer.yml"), jobs: jobs)
  }

  /// Each entry in one line.
  private func summary(_ proposal: ConfigurationProposal) -> [String] {
    proposal.packs.map { "\($0.id) \($0.root) \($0.delivery) \($0.count) \($0.files)" }
  }

  /// Reads the proposal as `build` would, and returns the pack of each file.
  private func packed(_ proposal: ConfigurationProposal) async throws -> [String: String] {
    try directory.write(proposal.text.utf8, to: "packer.yml")
    let configuration = try PackerConfiguration.read(directory("packer.yml"))
    try FileManager.default.removeItem(atPath: directory("packer.yml"))
    var owners: [String: String] = [:]
    for pack in configuration.packs {
      let sourceProblems = SourceProblems()
      let scan = try await DirectoryScan.run(
        pack.root, options: .init(excludes: pack.excludes), files: SystemFiles(), sourceProblems: sourceProblems, jobs: 1)
      try sourceProblems.check(pack.root)
      for entry in scan.entries where entry.kind != .directory {
        let path = pack.rootInProject + "/" + entry.path
        #expect(owners[path] == nil, "\(path) is in \(owners[path] ?? "") and \(pack.id)")
        owners[path] = pack.id.text
      }
    }
    return owners
  }

  @Test("for a single game has one essential pack")
  func singleGame() async throws {
    try add([
      "build/index.html", "build/js/main.js", "build/assets/levels/1/map.json", "build/assets/levels/2/map.json", "build/help/index.html",
    ])

    let proposal = try await propose()

    #expect(summary(proposal) == ["core build essential 1 5"])
    #expect(try await packed(proposal).count == 5)
  }

  @Test("for a folder of games has a pack for each, and one for the rest")
  func games() async throws {
    try add(["build/index.html", "build/app.js", "build/games/kart/a.js", "build/games/poker/b.js", "build/games/list.json"])

    let proposal = try await propose()

    #expect(summary(proposal) == ["core build essential 1 3", "game-${name} build/games/* prefetch 2 2"])
    let owners = try await packed(proposal)
    #expect(owners["build/games/list.json"] == "core")
    #expect(owners["build/games/kart/a.js"] == "game-kart")
  }

  @Test("for neighbouring folders with an index.html has a pack for each, at any depth")
  func siblings() async throws {
    try add(["build/web/kart/index.html", "build/web/poker/index.html", "build/music/a.ogg", "build/core/x.js"])

    let proposal = try await propose()

    #expect(
      summary(proposal) == [
        "core build/core essential 1 1", "music build/music prefetch 1 1", "web-${name} build/web/* prefetch 2 2",
      ])
    #expect(try await packed(proposal).count == 4)
  }

  @Test("for games among other folders has a pack for each game, and one for the other files")
  func mixed() async throws {
    try add(["build/web/kart/index.html", "build/web/common/x.js", "build/web/readme.txt"])

    let proposal = try await propose()

    #expect(summary(proposal) == ["core build essential 1 2", "kart build/web/kart prefetch 1 1"])
    #expect(try await packed(proposal).count == 3)
  }

  @Test("for folders whose names are not valid ids names each of them separately")
  func illegalNames() async throws {
    try add(["build/games/My Game!/a.js", "build/games/my-game/b.js", "build/games/ゲーム/c.js"])

    let proposal = try await propose()

    #expect(proposal.packs.map(\.id) == ["my-game", "my-game-2", "pack"])
    #expect(try await packed(proposal).count == 3)
  }

  @Test("for games with the same name in two places has ids with different prefixes")
  func twins() async throws {
    try add(["build/easy/games/kart/a.js", "build/hard/games/kart/b.js", "build/hard/games/poker/b.js"])

    let proposal = try await propose()

    #expect(proposal.packs.map(\.id) == ["game-${name}", "hard-games-${name}"])
    #expect(try await packed(proposal).count == 3)
  }

  @Test("for voices in folders named after languages has packs on demand")
  func voices() async throws {
    try add(["build/voices/de/a.ogg", "build/voices/pt-BR/a.ogg", "build/core/a.js"])

    let proposal = try await propose()
    #expect(summary(proposal) == ["core build/core essential 1 1", "voice-${name} build/voices/* onDemand 2 2"])

    try directory.write(proposal.text.utf8, to: "packer.yml")
    let configuration = try PackerConfiguration.read(directory("packer.yml"))
    #expect(configuration.packs.map(\.language) == [nil, "de", "pt-BR"])
  }

  @Test("excludes files that no player needs, and possible secrets")
  func leftOut() async throws {
    try add(["build/games/kart/main.js", "build/games/kart/main.js.map", "build/games/kart/level.map", "build/games/kart/.DS_Store"])
    try add(["build/games/kart/art/hero.psd", "build/node_modules/x/.npmrc", "build/.well-known/y", "build/games/poker/.env"])
    try add(["build/games/poker/dev.pem"], "-----BEGIN EC PRIVATE KEY-----\n")
    try add(["build/games/poker/index.html"])
    let padding = String(repeating: "text\n", count: 8000)
    try add(["build/games/poker/config.js"], padding + SecretCases.forges[0].text)

    let proposal = try await propose()

    let secrets = proposal.omitted.filter(\.isSecret)
    #expect(Set(secrets.map(\.path)) == ["games/poker/.env", "games/poker/dev.pem", "games/poker/config.js"])
    #expect(secrets.contains { $0.reason.hasSuffix("in line 8001, column 19 (github-token)") })
    #expect(Set(proposal.omitted.filter(\.isSkipped).map(\.path)) == ["games/kart/.DS_Store"])
    let owners = try await packed(proposal)
    #expect(Set(owners.keys) == ["build/games/kart/main.js", "build/games/kart/level.map", "build/games/poker/index.html"])
  }

  @Test("lists what cannot be packed")
  func problems() async throws {
    try add(["build/core/a.js"])
    try FileManager.default.createSymbolicLink(atPath: directory("build/core/link"), withDestinationPath: "a.js")

    let proposal = try await propose()

    #expect(proposal.problems.map(\.path) == ["core/link"])
    #expect(proposal.problems.map(\.message) == ["is a symbolic link"])
  }

  @Test("does not treat names that some platforms do not support as secrets, and does not exclude them")
  func unportableNames() async throws {
    try add(["build/core/lev?l.json", "build/core/level.json", #"build/core/back\slash.txt"#, "build/core/a*.pem", "build/core/dev?/x.txt"])

    let proposal = try await propose()

    #expect(proposal.problems.map(\.path) == ["core/a*.pem", #"core/back\slash.txt"#, "core/dev?", "core/lev?l.json"])
    #expect(proposal.omitted.isEmpty)
    #expect(proposal.packs.map(\.excludes) == [[]])
    #expect(proposal.packs.map(\.files) == [1])
  }

  @Test("lists a secret that no pattern can match, and excludes the others")
  func unnamableSecrets() async throws {
    try add(["build/core/${name}.p12", "build/core/a.p12", "build/core/x.js"])
    try add(["build/core/${x}.txt"], "-----BEGIN PRIVATE KEY-----\n")

    let proposal = try await propose()

    #expect(proposal.problems.map(\.path) == ["core/${name}.p12", "core/${x}.txt"])
    #expect(proposal.problems[1].message == "contains a private key, and no pattern can exclude only this file")
    #expect(proposal.packs.map(\.excludes) == [["/a.p12"]])
  }

  @Test("for folders that no entry can name has them in the pack of the rest", arguments: ["${name}", "${", "a${x}b"])
  func placeholders(_ folder: String) async throws {
    try add(["build/games/\(folder)/index.html", "build/games/kart/index.html", "build/\(folder)/games/x/a.js", "build/music/a.ogg"])

    let proposal = try await propose()

    #expect(summary(proposal) == ["core build essential 1 2", "kart build/games/kart prefetch 1 1", "music build/music prefetch 1 1"])
    #expect(try await packed(proposal).count == 4)
  }

  @Test("for folders with a pattern considers folders without packed files, because the pattern matches them too")
  func emptied() async throws {
    try add([
      "build/games/kart/index.html", "build/games/poker/a.js", "build/games/a b/x.log", "build/voices/de/a.ogg", "build/voices/x!/a.log",
    ])

    let proposal = try await propose()

    #expect(proposal.packs.map(\.root) == ["build/games/kart", "build/games/poker", "build/voices/de"])
    #expect(try await packed(proposal).count == 3)
  }

  @Test("for a directory that no entry can name is refused, with a hint where to put the configuration")
  func placeholderAbove() async throws {
    try add(["${name}/index.html"])

    let error = await #expect(throws: PackError.self) { try await propose("${name}") }

    #expect(error?.code == .unsuitableSource)
    let inside = directory("${name}")
    #expect(error?.advice?.description == "packer init '\(inside)' -o '\(inside)/packer.yml'")
    let proposal = try await ConfigurationProposal.make(for: inside, configuration: inside + "/packer.yml", jobs: 1)
    #expect(proposal.packs.map(\.root) == ["."])
  }

  @Test("counts files that are the same in several packs, and not those in one pack")
  func shared() async throws {
    let engine = String(repeating: "engine ", count: 4000)
    try add(["build/games/a/three.js", "build/games/b/three.js", "build/games/c/lib/3.js"], engine)
    try add(["build/games/a/x1.bin", "build/games/a/x2.bin"], String(repeating: "twice ", count: 4000))

    let proposal = try await propose()

    let shared = try #require(proposal.shared)
    #expect(shared.files == 1)
    #expect(shared.contentSize == 28_000)
    #expect(shared.savedSize == 56_000)
    #expect(shared.largest == [["games/a/three.js", "games/b/three.js", "games/c/lib/3.js"]])
    #expect(proposal.text.contains("build/games/a/three.js = build/games/b/three.js and 1 more"))
  }

  @Test("for the project's own directory excludes the configuration, the lock file and the release")
  func ownDirectory() async throws {
    try add(["index.html", "packer.lock.json", "dist/manifest.json", "dist/packages.json", "dist/core-00.pack"])

    let proposal = try await propose("")

    // The keys that init suggests to make next must not be packed either.
    for name in [".key", ".sign.key"] { #expect(proposal.packs[0].excludes.contains("/\(proposal.title)\(name)")) }
    #expect(proposal.packs[0].excludes.contains("/dist/"))

    #expect(summary(proposal) == ["core . essential 1 1"])
    try directory.write("later".utf8, to: "packer.yml")
    #expect(try await packed(proposal) == ["./index.html": "core"])
  }

  @Test("does not depend on the number of threads")
  func determinism() async throws {
    for game in 0..<4 { try add((0..<6).map { "build/games/g\(game)/f\($0).js" }, String(repeating: "g", count: 9000)) }

    let first = try await propose(jobs: 1).text

    #expect(try await propose(jobs: 4).text == first)
  }

  @Test("never replaces a file")
  func existing() async throws {
    try add(["build/core/a.js"])
    let proposal = try await propose()
    try directory.write("mine".utf8, to: "packer.yml")

    let late = try #require(throws: PackError.self) { try proposal.write() }
    let early = await #expect(throws: PackError.self) { try await propose() }

    #expect(late.code == .outputExists)
    #expect(early?.code == .outputExists)
    #expect(directory.bytes(of: "packer.yml") == Array("mine".utf8))
  }

  @Test("leaves nothing behind if it cannot be written", arguments: [FaultyFiles.Call.Operation.write, .sync])
  func failedWrite(_ operation: FaultyFiles.Call.Operation) async throws {
    try add(["build/core/a.js"])
    let proposal = try await propose()

    #expect(throws: PackError.self) { try proposal.write(files: FaultyFiles.failing(operation, with: .fullDisk)) }

    #expect(directory.names() == ["build"])
  }

  @Test("for nothing is refused", arguments: ["empty", "junk"])
  func nothing(_ name: String) async throws {
    try directory.makeDirectory("empty")
    try add(["junk/.DS_Store", "junk/a.log"])

    let error = await #expect(throws: PackError.self) { try await propose(name) }

    #expect(error?.code == .unsuitableSource)
  }

  @Test("considers that a pattern also matches folders with nothing to pack")
  func emptiedFolders() async throws {
    try add([
      "a/levels/voices/a.js", "b/levels/voices/main.js.map", "b/levels/x/a.js", "c/voices/de/a.ogg", "c/voices/not a language/x.log",
    ])

    let proposal = try await propose("")

    #expect(Set(try await packed(proposal).keys) == ["a/levels/voices/a.js", "b/levels/x/a.js", "c/voices/de/a.ogg"])
  }

  @Test("for any tree is a valid configuration with every file in one pack")
  func anyTree() async throws {
    var generator = SeededGenerator()
    func pick<Item>(_ items: [Item]) -> Item { items[Int.random(in: items.indices, using: &generator)] }
    let folders = ["games", "levels", "web", "core", "kart", "poker", "a b", "é", "-x", "yes", "voices", "de", "null", "1"]
    let names = ["index.html", "a.js", "b.png", "main.js.map", "x.log", "data.bin"]
    for number in 0..<15 {
      var expected: Set<String> = []
      for _ in 0..<pick([3, 8, 20]) {
        let path = (["tree\(number)"] + (0..<pick([0, 1, 2, 3, 4])).map { _ in pick(folders) } + [pick(names)]).joined(separator: "/")
        try add([path])
        if !path.hasSuffix(".map"), !path.hasSuffix(".log") { expected.insert(path) }
      }
      guard !expected.isEmpty else { continue }
      let proposal = try await propose("tree\(number)")
      #expect(Set(try await packed(proposal).keys) == expected, "tree \(number)\n\(proposal.text)")
    }
  }
}
