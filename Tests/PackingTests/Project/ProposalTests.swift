import Foundation
import TestSupport
import Testing

@testable import PackProject

@Suite("A proposal", .bounded)
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

  /// The packs with the content of each file, so that proposals from different directories can be compared.
  private func contents(_ proposal: ConfigurationProposal) async throws -> Set<String> {
    Set(try await packed(proposal).map { path, id in "\(id): \(String(decoding: directory.bytes(of: path) ?? [], as: UTF8.self))" })
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
        pack.root, pack.settings, files: SystemFiles(), sourceProblems: sourceProblems, jobs: 1)
      try sourceProblems.check(pack.root)
      for entry in scan.entries where entry.kind != .directory {
        let path = pack.rootInProject + "/" + entry.path
        #expect(owners[path] == nil, "\(path) is in \(owners[path] ?? "") and \(pack.id)")
        owners[path] = pack.id.text
      }
    }
    return owners
  }

  @Test("for a single game has one essential pack, named after the first folder that says something")
  func singleGame() async throws {
    try add([
      "kart/build/index.html", "kart/build/js/main.js", "kart/build/assets/levels/1/map.json", "kart/build/assets/levels/2/map.json",
      "kart/build/help/index.html", "kart/build/levels/1/a.json",
    ])

    let proposal = try await propose("kart/build")

    #expect(summary(proposal) == ["kart kart/build essential 1 6"])
    #expect(try await packed(proposal).count == 6)
    #expect(proposal.text.contains("install: packed"))
  }

  @Test("for a large game does not delay the first launch")
  func largeGame() async throws {
    try add(["kart/index.html"])
    try directory.write([UInt8](repeating: 0, count: Int(ProposalLayout.largestEssential)), to: "kart/movie.bin")

    let proposal = try await propose("kart")

    #expect(summary(proposal) == ["kart kart prefetch 1 2"])
    #expect(proposal.text.contains("add 'delivery: essential'"))
  }

  @Test("for a folder of games has a pack for each, and one for the page next to it")
  func games() async throws {
    try add(["arcade/index.html", "arcade/app.js", "arcade/games/kart/a.js", "arcade/games/poker/b.js", "arcade/games/list.json"])

    let proposal = try await propose("arcade")

    #expect(summary(proposal) == ["arcade arcade prefetch 1 3", "game-${name} arcade/games/* prefetch 2 2"])
    #expect(proposal.packs[0].excludes == ["/games/*/"])
    let owners = try await packed(proposal)
    #expect(owners["arcade/games/list.json"] == "arcade")
    #expect(owners["arcade/games/kart/a.js"] == "game-kart")
  }

  @Test("leaves no empty folder in a pack")
  func emptyFolders() async throws {
    try add(["arcade/index.html", "arcade/games/kart/a.js", "arcade/games/kart/maps/a.js.map", "arcade/maps/deep/a.js.map"])
    try directory.makeDirectory("arcade/empty/inner")

    let proposal = try await propose("arcade")

    #expect(proposal.packs.map(\.excludes) == [["/games/", "/empty/", "/maps/"], ["/maps/"]])
    #expect(try await packed(proposal).count == 2)
  }

  @Test("excludes an emptied folder only if no other pack of the pattern needs it")
  func sharedFolderNames() async throws {
    try add(["games/kart/a.js", "games/kart/maps/a.js.map", "games/poker/maps/level.json"])

    let proposal = try await propose("games")

    #expect(proposal.packs.map(\.excludes) == [[]])
    #expect(try await packed(proposal).count == 2)
  }

  @Test(
    "is the same from any directory where the search starts",
    arguments: [
      [
        "arcade/games/kart/index.html", "arcade/games/poker/index.html", "arcade/games/poker/help/index.html",
        "arcade/games/solo/x/index.html",
      ],
      ["arcade/web/kart/index.html", "arcade/web/poker/index.html", "arcade/web/HexGL/index.html"],
      ["arcade/web/Kino Größe/index.html", "arcade/web/ゲーム/index.html"],
      ["arcade/web/package.json", "arcade/web/dist/index.html", "arcade/web/src/main.ts"],
      ["arcade/games/a/package.json", "arcade/games/a/dist/index.html", "arcade/games/b/package.json", "arcade/games/b/dist/index.html"],
      ["arcade/games/games/kart/a.js", "arcade/games/games/poker/a.js"],
    ])
  func anyStart(_ paths: [String]) async throws {
    try add(paths)
    var starts = ["", "arcade"]
    if Set(paths.map { $0.split(separator: "/")[1] }).count == 1 { starts.append("arcade/\(paths[0].split(separator: "/")[1])") }

    var found: [Set<String>] = []
    for start in starts { found.append(try await contents(try await propose(start))) }

    #expect(found.count == 3 && !found[0].isEmpty)
    #expect(found[1] == found[0])
    #expect(found[2] == found[0])
  }

  @Test("for neighbouring folders with an index.html has a pack for each, at any depth")
  func siblings() async throws {
    try add(["build/web/kart/index.html", "build/web/poker/index.html", "build/music/a.ogg", "build/core/x.js"])

    let proposal = try await propose()

    let prefix = try #require(proposal.packs.first { $0.isEach }).id
    #expect(
      summary(proposal) == [
        "core build/core essential 1 1", "music build/music prefetch 1 1", "\(prefix) build/web/* prefetch 2 2",
      ])
    #expect(try await packed(proposal).count == 4)
  }

  @Test("for games among other folders has a pack for each, and one for the other files, which is not essential")
  func mixed() async throws {
    try add(["build/web/kart/index.html", "build/web/common/x.js", "build/web/notes.txt"])

    let proposal = try await propose()

    #expect(
      summary(proposal) == ["core build/web prefetch 1 1", "common build/web/common essential 1 1", "kart build/web/kart prefetch 1 1"])
    #expect(try await packed(proposal).count == 3)
  }

  @Test("for a repository lists what is in no pack, instead of packing it")
  func repository() async throws {
    try add(["README.md", "LICENSE", "movies/making-of.mp4", "games/kart/index.html", "games/poker/index.html", "docs/index.html"])

    let proposal = try await propose("")

    #expect(summary(proposal) == ["game-${name} games/* prefetch 2 2"])
    #expect(Set(proposal.unassigned.map(\.path)) == ["LICENSE", "movies", "docs"])
    #expect(proposal.text.contains("# In no pack, because nothing shows that players need them: 3 files"))
    #expect(proposal.text.contains("#   movies/  "))
  }

  @Test("for a tree without games has a pack for each folder, none of them essential without a reason")
  func noGames() async throws {
    try add(["wrapper/textures/a.png", "wrapper/music/a.ogg", "wrapper/ui/x.json", "wrapper/list.json", "wrapper/tests/a.js"])

    let proposal = try await propose("")

    #expect(
      summary(proposal) == [
        "core wrapper prefetch 1 1", "music wrapper/music prefetch 1 1", "textures wrapper/textures prefetch 1 1",
        "ui wrapper/ui essential 1 1",
      ])
    #expect(proposal.unassigned.map(\.path) == ["wrapper/tests"])
  }

  @Test("for folders whose names are not valid ids has ids that read the same")
  func illegalNames() async throws {
    try add(["games/Kino Größe/a.js", "games/kino-groesse/b.js", "games/Ümlaut Game!/c.js", "games/ゲーム/d.js"])

    let proposal = try await propose("games")

    #expect(
      proposal.packs.map(\.id) == ["game-kino-groesse-2", "game-kino-groesse", "game-uemlaut-game", "game-1"])
    #expect(proposal.packs.compactMap(\.differingName) == ["Kino Größe", "Ümlaut Game!", "ゲーム"])
    #expect(proposal.text.contains("# The folder is 'Kino Größe'. An id must not change once it was released"))
    #expect(try await packed(proposal).count == 4)
  }

  @Test(
    "writes Latin letters in ASCII",
    arguments: [
      ("Kino Größe", "kino-groesse"), ("Ümlaut Game", "uemlaut-game"), ("U\u{308}mlaut", "uemlaut"), ("Ærøskøbing", "aeroeskoebing"),
      ("Łódź!", "lodz"), ("İstanbul ", "istanbul"), ("Crème brûlée", "creme-brulee"), ("HexGL", "HexGL"), ("ゲーム", nil), ("3D ゲーム", nil),
      ("...", nil),
    ])
  func latin(_ name: String, _ expected: String?) {
    #expect(ProposalName.slug(name) == expected)
  }

  @Test("for games with the same name in two places has different ids")
  func twins() async throws {
    try add(["build/easy/games/kart/a.js", "build/hard/games/kart/b.js", "build/hard/games/poker/b.js"])

    let proposal = try await propose()

    #expect(proposal.packs.map(\.id) == ["game-${name}", "hard-games-${name}"])
    #expect(try await packed(proposal).count == 3)
  }

  @Test(
    "for a web project takes the built files",
    arguments: [
      ("capacitor.config.json", #"{"appId": "x", "webDir": "out/web/"}"#, "out/web"),
      ("capacitor.config.ts", "const config = {\n  webDir: 'out/web',\n};", "out/web"),
      ("config.xml", "<?xml version='1.0'?><widget id='x'/>", "www"),
      ("vite.config.js", "export default {}", "dist"),
      ("vite.config.mjs", "export default {build: {outDir: './docs'}}", "docs"),
      ("package.json", #"{"scripts": {"build": "webpack --config webpack/prod.js"}}"#, "build"),
      ("package.json", #"{"scripts": {"build": "ng build"}}"#, "dist/game/browser"),
      ("package.json", #"{"scripts": {"start": "http-server"}}"#, "public"),
    ])
  func builtProject(_ file: String, _ text: String, _ place: String) async throws {
    try add(["kart/\(file)"], text)
    try add(["kart/index.html", "kart/src/index.html", "kart/ios/App/public/index.html", "kart/android/a.js", "kart/\(place)/index.html"])

    let proposal = try await propose("kart")

    #expect(summary(proposal) == ["kart kart/\(place) essential 1 1"])
    let unbuilt = place == "public" ? nil : try await unbuiltError("kart/\(place)")
    #expect(unbuilt?.code == (place == "public" ? nil : .unsuitableSource))
  }

  /// The error without the built files.
  private func unbuiltError(_ place: String) async throws -> PackError? {
    try FileManager.default.removeItem(atPath: directory(place))
    return await #expect(throws: PackError.self) { try await propose("kart") }
  }

  @Test("for projects of which one is not built says which, and packs the others")
  func partlyBuilt() async throws {
    try add(["games/a/package.json", "games/b/package.json"], #"{"scripts": {"build": "vite build"}}"#)
    try add(["games/a/index.html", "games/a/dist/index.html", "games/b/index.html"])

    let proposal = try await propose("games")

    #expect(summary(proposal) == ["game-a games/a/dist prefetch 1 1"] || summary(proposal) == ["game-a games/a/dist essential 1 1"])
    #expect(proposal.unbuilt.count == 1)
    #expect(proposal.unbuilt[0].reason.hasPrefix("b/package.json describes a build"))
    #expect(proposal.text.contains("# Not built, and so in no pack: b/package.json"))
  }

  @Test(
    "for the sources of an engine's project is refused",
    arguments: [["project.godot", "main.tscn"], ["Assets/a.cs", "ProjectSettings/b.asset"]])
  func engineProject(_ names: [String]) async throws {
    try add(names.map { "game/\($0)" })

    let error = await #expect(throws: PackError.self) { try await propose("game") }
    #expect(error?.advice?.description.contains("without an export") == true)

    try add(["game/export/web/index.html"])
    #expect(summary(try await propose("game")) == ["game game/export/web essential 1 1"])
  }

  @Test("never takes packer's own files for content")
  func ownFiles() async throws {
    try add([
      "build/kart/index.html", "build/kart/asset.pack", "build/kart/packer.yml", "build/release/manifest.json",
      "build/release/packages.json",
    ])
    try add(["build/release/core-00.pack", "build/certificate/server.key", "build/certificate/server.crt", "build/certificate/ca.crt"])
    try add(["build/kart/old.key"], "pkk1-0000")
    try directory.write(PackHeader.magic + [0, 1, 2], to: "build/kart/old.pack")

    let proposal = try await propose()

    #expect(Set(try await packed(proposal).keys) == ["build/kart/index.html", "build/kart/asset.pack"])
    #expect(proposal.unassigned.isEmpty)
  }

  @Test("for voices in folders named after languages has packs on demand")
  func voices() async throws {
    try add(["build/voices/de/a.ogg", "build/voices/pt-BR/a.ogg", "build/core/a.js"])

    let proposal = try await propose()
    #expect(summary(proposal) == ["core build/core essential 1 1", "voice-${name} build/voices/* onDemand 2 2"])

    try directory.write(proposal.text.utf8, to: "packer.yml")
    let configuration = try PackerConfiguration.read(directory("packer.yml"))
    #expect(configuration.packs.map(\.language) == [nil, "de", "pt-BR"])
    #expect(configuration.fallbackLanguage == "de")
    try add(["build/voices/en-GB/a.ogg"])
    try FileManager.default.removeItem(atPath: directory("packer.yml"))
    try directory.write(try await propose().text.utf8, to: "packer.yml")
    #expect(try PackerConfiguration.read(directory("packer.yml")).fallbackLanguage == "en")
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

  @Test("proposes what can be built, without the folders that cannot be packed")
  func unpackableFolders() async throws {
    try add(["games/q\"x/index.html", "games/kart/index.html", "games/a/index.html", "games/A/index.html"])

    let proposal = try await propose("games")

    #expect(proposal.problems.map(\.path).contains("q\"x"))
    let owners = try await packed(proposal)
    #expect(owners["games/kart/index.html"] == "game-kart")
    #expect(!owners.keys.contains { $0.contains("\"") })
    let kept = owners.keys.count { $0.lowercased() == "games/a/index.html" }
    #expect(kept + proposal.problems.count { $0.path.lowercased().hasPrefix("a") } >= 2)
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
    #expect(proposal.problems[1].message == "contains a private key (key-file), and no pattern can exclude only this file")
    #expect(proposal.packs.map(\.excludes) == [["/a.p12"]])
  }

  @Test("for folders that no entry can name says that they are in no pack", arguments: ["${name}", "${", "a${x}b"])
  func placeholders(_ folder: String) async throws {
    try add(["build/games/\(folder)/index.html", "build/games/kart/index.html", "build/\(folder)/games/x/a.js", "build/music/a.ogg"])

    let proposal = try await propose()

    #expect(summary(proposal) == ["game-kart build/games/kart prefetch 1 1", "music build/music prefetch 1 1"])
    #expect(proposal.unassigned.count == 2)
    #expect(try await packed(proposal).count == 2)
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

    #expect(summary(proposal) == ["\(proposal.title) . essential 1 1"])
    try directory.write("later".utf8, to: "packer.yml")
    #expect(try await packed(proposal) == ["./index.html": proposal.title])
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

  @Test("for any tree is a valid configuration with every file in one pack, or listed")
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
      let owned = Set(try await packed(proposal).keys)
      let listed = expected.filter { path in
        proposal.unassigned.contains { "tree\(number)/\($0.path)" == path || path.hasPrefix("tree\(number)/\($0.path)/") }
      }
      #expect(owned.isDisjoint(with: listed), "tree \(number)\n\(proposal.text)")
      #expect(owned.union(listed) == expected, "tree \(number)\n\(proposal.text)")
    }
  }
}
