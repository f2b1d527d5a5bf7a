import Foundation
import TestSupport
import Testing

@testable import PackProject

/// A case of `Tests/Configurations`.
struct ConfigurationCase: Sendable {
  var name: String
  /// Line, column and sentence of each mistake.
  var mistakes: [String] = []
  var text = ""

  static let refused = all(in: "refused.txt")
  static let accepted = all(in: "accepted.txt")

  private static func all(in file: String) -> [ConfigurationCase] {
    let url = TestVector.testsFolder.appendingPathComponent("Configurations/\(file)")
    guard let text = try? String(contentsOf: url, encoding: .utf8) else { return [] }
    var cases: [ConfigurationCase] = []
    var isText = false
    for line in text.components(separatedBy: "\n").dropLast() {
      if line.hasPrefix("== "), line.hasSuffix(" ==") {
        cases.append(ConfigurationCase(name: String(line.dropFirst(3).dropLast(3))))
        isText = false
      } else if isText {
        cases[cases.count - 1].text += line + "\n"
      } else if line == "--" {
        isText = true
      } else if line.hasPrefix("> ") {
        cases[cases.count - 1].mistakes.append(String(line.dropFirst(2)))
      }
    }
    return cases
  }
}

/// A directory with the trees that the test configurations name.
struct ConfiguredProject {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    for name in [
      "core", "games/kart", "games/poker", "games/.hidden", "voices/de/files", "voices/en/files", "odd/with space", "case/Kart",
      "case/kart", "empty",
    ] {
      try directory.makeDirectory("build/\(name)")
    }
    try directory.write("a file".utf8, to: "build/file.txt")
  }

  func write(_ text: String) throws -> String {
    try directory.write(text.utf8, to: "packer.yml")
  }

  func read(_ text: String, sources: PackerConfiguration.Sources = .required) throws -> PackerConfiguration {
    try PackerConfiguration.read(write(text), sources: sources)
  }

  func mistakes(_ text: String) throws -> [String] {
    try PackerConfiguration.mistakes(in: write(text)).map { "\($0.position.line):\($0.position.column): \($0.message)" }
  }
}

@Suite("A configuration")
struct ConfigurationTests {
  private let project: ConfiguredProject

  /// The start of a minimal configuration.
  private static let start = "serve: {baseURL: \"https://cdn.example.com/packs/\"}\n"
  private static let core = "packs: [{id: core, root: build/core}]\n"

  init() throws {
    project = try ConfiguredProject()
  }

  // Not one test for each: making the directories takes longer than the reading.
  @Test("is refused with every mistake and its position")
  func refused() throws {
    for sample in ConfigurationCase.refused {
      let mistakes = try project.mistakes(sample.text)

      #expect(!mistakes.isEmpty, "\(sample.name)")
      #expect(mistakes == sample.mistakes, "\(sample.name)")
    }
  }

  @Test("is accepted")
  func accepted() throws {
    for sample in ConfigurationCase.accepted {
      #expect(try project.mistakes(sample.text) == [], "\(sample.name)")
    }
  }

  @Test("there are enough cases")
  func count() {
    #expect(ConfigurationCase.refused.count >= 70)
    #expect(ConfigurationCase.accepted.count >= 4)
  }

  // MARK: Errors

  @Test("one mistake in every pack is one line, which says where else")
  func oneLineForManyPlaces() throws {
    let project = try ConfiguredProject()
    let packs = { (count: Int) in (1...count).map { "  - id: p\($0)\n    root: build/core\n    delivery: later\n" }.joined() }
    for (count, end, lines) in [(3, "", 3), (4, " (also in lines 8, 11, 14)", 1), (60, " (also in lines 8, 11, 14 and 56 more)", 1)] {
      let path = try project.write("serve: {baseURL: https://cdn.example.net/}\npacks:\n\(packs(count))")
      let error = try #require(#expect(throws: PackError.self) { try PackerConfiguration.read(path) })
      #expect(error.message.contains("packer.yml:5:15: 'delivery' is 'later'"))
      let found = error.details.isEmpty ? [error.message] : error.details
      let later = found.filter { $0.contains("'later'") }
      #expect(later.count == lines)
      #expect(later.first?.contains("(also") == !end.isEmpty)
      #expect(end.isEmpty || later.first?.hasSuffix(end) == true)
      // For marks in a pull request, each place counts.
      #expect(try PackerConfiguration.mistakes(in: path).count { $0.message.contains("'later'") } == count)
    }
  }

  @Test("its first mistake is the message, all are the details, and every one names the file")
  func message() throws {
    let path = try project.write("serve: {baseURL: cdn}\npacks:\n  - {id: core, root: nowhere}\n")

    let error = try #require(throws: PackError.self) { try PackerConfiguration.read(path) }

    #expect(error.code == .invalidConfiguration)
    #expect(error.message.hasPrefix("\(path):1:18: 'baseURL' is 'cdn', which does not start with https://"))
    #expect(error.details.count == 2)
    #expect(error.details.first == error.message)
    #expect(error.details.last == "\(path):3:22: 'root' is 'nowhere', which does not exist")
  }

  @Test("a single mistake is reported once")
  func singleMistake() throws {
    let path = try project.write(Self.core)

    let error = try #require(throws: PackError.self) { try PackerConfiguration.read(path) }

    #expect(error.message == "\(path):1:1: the configuration has no 'serve'")
    #expect(error.details.isEmpty)
  }

  // If aliases were followed, the last of these lines would have 10^12 values.
  @Test(
    "aliases of aliases are refused with their position, and never followed",
    arguments: ["[*a11, 1]: 1", "? *a11\n: 1", "*a11 : 1", "name: *a11"])
  func aliasBomb(_ use: String) throws {
    var lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for level in 1..<12 {
      let item = "*a\(level - 1)"
      lines.append("a\(level): &a\(level) [" + Array(repeating: item, count: 10).joined(separator: ", ") + "]")
    }
    lines.append(use)

    let mistakes = try project.mistakes(lines.joined(separator: "\n") + "\n")

    #expect(mistakes.contains("12:6: anchors and aliases are not supported: repeat the value instead"))
    #expect(mistakes.contains { $0.hasPrefix("13:") }, "\(mistakes)")
  }

  @Test("an alias without an anchor is reported as an alias, with its position")
  func undefinedAlias() throws {
    let mistakes = try project.mistakes(Self.start + "packs: [{id: core, root: build/core, tags: [a, *b]}]\n")

    #expect(mistakes == ["2:48: anchors and aliases are not supported: repeat the value instead"])
  }

  @Test("a million nested values end the reading, and not the process", arguments: ["[", "{a: ", "- ", "? ", "- ? "])
  func nesting(_ opening: String) throws {
    let mistakes = try project.mistakes(String(repeating: opening, count: 1_000_000 / opening.utf8.count - 10) + "a")

    #expect(mistakes.count == 1)
    #expect(mistakes.first?.hasSuffix("values are nested too deeply") == true, "\(mistakes)")
  }

  @Test("a key in it is refused and not repeated", arguments: ["a key in the file", "a key where nothing is expected"])
  func secret(_ name: String) throws {
    let sample = try #require(ConfigurationCase.refused.first { $0.name == name })
    let path = try project.write(sample.text)

    let error = try #require(throws: PackError.self) { try PackerConfiguration.read(path) }

    #expect(!"\(error) \(error.details)".contains("000102030405"))
    #expect(error.advice?.description.contains("packer key new") == true)
  }

  @Test(
    "the hint for a signing key in it is the command that makes another one",
    arguments: [
      "signKey: pks1-000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f-00000000",
      "signKey: 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
      "signKey: [000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f]",
      "pks1-000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f-00000000: 1",
    ])
  func signingSecret(_ line: String) throws {
    let mistakes = try PackerConfiguration.mistakes(in: try project.write(line + "\n"))
    let hints = mistakes.compactMap(\.hint)
    #expect(hints.count == 1 && hints[0].contains("'packer key new --signing -o game.sign.key'"), "\(hints)")
  }

  @Test("a missing file, a directory and a file that is too large have different errors")
  func unreadable() throws {
    let missing = try #require(throws: PackError.self) { try PackerConfiguration.read(project.directory("other.yml")) }
    let directory = try #require(throws: PackError.self) { try PackerConfiguration.read(project.directory("build")) }
    try project.directory.write([UInt8](repeating: 0x20, count: (32 << 20) + 1), to: "large.yml")
    let large = try #require(throws: PackError.self) { try PackerConfiguration.read(project.directory("large.yml")) }

    #expect(missing.code == .missingInput)
    #expect(directory.code == .cannotRead)
    #expect(large.code == .invalidConfiguration)
    #expect(large.message.contains("33554432"))
  }

  @Test("bytes that are not UTF-8 are reported with their position")
  func encoding() throws {
    try project.directory.write(Array("a: b\ncé: ".utf8) + [0xFF, 0x0A], to: "packer.yml")

    let mistakes = try PackerConfiguration.mistakes(in: project.directory("packer.yml"))

    #expect(mistakes.map(\.message) == ["the file is not UTF-8"])
    #expect(mistakes.first?.position == SourcePosition(line: 2, column: 5))
  }

  @Test("hundreds of duplicate keys, very deep nesting and aliases of aliases are mistakes")
  func bombs() throws {
    let keys = (0..<200).map { "k\($0 % 60): 1\n" }.joined()
    #expect(try !project.mistakes(keys).isEmpty)
    let deep = try project.mistakes(String(repeating: "[", count: 100_000))
    #expect(deep.count == 1 && deep[0].hasSuffix(": values are nested too deeply"), "\(deep)")
    var laughs = "a0: &a0 [x]\n"
    for level in 1..<40 { laughs += "a\(level): &a\(level) [*a\(level - 1), *a\(level - 1)]\n" }
    #expect(try !project.mistakes(laughs).isEmpty)
  }

  @Test("after any change of characters it is either accepted or refused with mistakes")
  func mutations() throws {
    let sample = try #require(ConfigurationCase.accepted.first { $0.name == "all keys" })
    let scalars = Array(sample.text.unicodeScalars)
    let others = Array("\t\n :-,[]{}\"'&*!|>%#?0xé\u{2028}\u{0}".unicodeScalars)
    var random = SeededGenerator()
    let seed = random.seed
    func next(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    for _ in 0..<100 {
      var changed = scalars
      for _ in 0...next(3) { changed[next(changed.count)] = others[next(others.count)] }
      var text = String.UnicodeScalarView()
      text.append(contentsOf: changed)
      let path = try project.write(String(text))
      do throws(PackError) {
        let (configuration, mistakes) = try ConfigurationReader.run(path, files: SystemFiles())
        #expect((configuration == nil) == !mistakes.isEmpty, "seed \(seed)")
      } catch {
        Issue.record("\(error), seed \(seed)")
      }
    }
  }

  // MARK: Values

  @Test("missing keys have their defaults")
  func defaults() throws {
    let configuration = try project.read(Self.start + Self.core)

    #expect(configuration.directory == project.directory.path)
    #expect(configuration.app == PackerConfiguration.App())
    #expect(configuration.serve.baseURL == "https://cdn.example.com/packs/")
    #expect(configuration.serve.manifestURL == "https://cdn.example.com/packs/manifest.json")
    #expect(configuration.serve.hosts == [])
    #expect(configuration.key == nil && !configuration.perPackKeys)
    #expect(configuration.signKeys == [])
    #expect(configuration.trustedKeys == [])
    #expect(configuration.validitySeconds == 180 * 86_400)
    #expect(configuration.manifestCeiling == 65_536)
    #expect(configuration.headroom == PackerConfiguration.Headroom(basisPoints: 200, bytes: 1))
    #expect(configuration.hosting == .unmanaged)
    #expect(configuration.totals == PackerConfiguration.Totals())
    #expect(configuration.ignored == [])
    let pack = try #require(configuration.packs.first)
    #expect(pack.id.text == "core")
    #expect(pack.root == project.directory("build/core"))
    #expect(pack.rootInProject == "build/core")
    #expect(pack.delivery == .prefetch)
    #expect(pack.install == .unpacked)
    #expect(pack.name == "core")
    #expect(pack.description == "")
    #expect(pack.settings.level == .balanced)
    #expect(pack.budget == nil)
    #expect(!pack.settings.followsSymlinks && !pack.settings.allowsSecrets && !pack.settings.allowsUnportablePaths)
    #expect(pack.tags.isEmpty && pack.settings.excludes.isEmpty && pack.platforms.isEmpty && pack.language == nil)
  }

  @Test("all keys are read")
  func everything() throws {
    let sample = try #require(ConfigurationCase.accepted.first { $0.name == "all keys" })
    let configuration = try project.read(sample.text)

    #expect(configuration.app.bundleID == "com.example.arcade")
    #expect(configuration.app.group == "group.com.example.arcade")
    #expect(configuration.serve.baseURL == "https://cdn.example.com/packs/")
    #expect(configuration.serve.manifestURL == "https://www.example.com/arcade/manifest.json")
    #expect(configuration.serve.hosts == ["cdn.example.com", "*.example.net"])
    #expect(configuration.key == "file:" + project.directory("arcade.key") && configuration.perPackKeys)
    #expect(configuration.signKeys == ["file:" + project.directory("arcade.sign.key"), "env:NEXT_SIGN_KEY"])
    #expect(configuration.trustedKeys.count == 1)
    #expect(configuration.validitySeconds == 26 * 7 * 86_400)
    #expect(configuration.hosting == .managed)
    #expect(configuration.headroom == PackerConfiguration.Headroom(basisPoints: 250, bytes: 1))
    #expect(configuration.manifestCeiling == 131_072)
    #expect(configuration.packs.map(\.id.text) == ["core", "game-kart", "game-poker", "voices-de", "voices-en"])

    let core = configuration.packs[0]
    #expect(core.rootInProject == "build/core")
    #expect(core.delivery == .essential)
    #expect(core.install == .packed)
    #expect(core.settings.level == .smallest)
    #expect(core.settings.excludes == ["*.map", "drafts/", "*.psd"])
    #expect(core.platforms == [])
    #expect(!core.settings.followsSymlinks && core.settings.allowsUnportablePaths)
    #expect(core.tags == ["boot"] && core.language == "en" && core.name == "Core" && core.description == "What every game needs.")
    #expect(core.budget?.download == 12_000_000 && core.budget?.installed == 33 << 20 && core.budget?.message == "Ask #assets")
    let game = configuration.packs[1]
    #expect(game.rootInProject == "build/games/kart")
    #expect(game.tags == ["kart"] && game.name == "game-kart")
    #expect(game.settings.excludes == ["*.map", "drafts/", "kart.psd"])
    #expect(game.platforms == ["iOS", "visionOS"])
    #expect(game.settings.level == .number(12) && game.settings.followsSymlinks)
    let voice = configuration.packs[4]
    #expect(voice.rootInProject == "build/voices/en/files" && voice.language == "en" && voice.delivery == .onDemand)
    #expect(configuration.fallbackLanguage == "en")

    #expect(configuration.totals.essentialDownload == 30_000_000 && configuration.totals.essentialInstalled == 35_000_000)
    #expect(configuration.totals.otherDownload == 360_000_000 && configuration.totals.otherInstalled == 410_000_000)
    #expect(configuration.totals.message == "Talk to the producers.")
    #expect(configuration.ignored.map(\.rule) == ["PK4105", "PK6001"])
    #expect(configuration.ignored.map(\.pack) == ["core", nil])
  }

  @Test("JSON may write characters as pairs of surrogates, and other text is not changed")
  func surrogates() throws {
    let configuration = try project.read(
      #"""
      {"serve": {"baseURL": "https://cdn.example.com/packs"},
       "packs": [{"id": "core", "root": "build/core", "name": "\ud83c\uDFAE \\ud83c\\udfae", "description": "\u00e4"}]}
      """#)
    #expect(configuration.packs[0].name == "🎮 \\ud83c\\udfae")
    #expect(configuration.packs[0].description == "ä")
    #expect(throws: PackError.self) {
      try project.read(
        #"{"serve": {"baseURL": "https://cdn.example.com/"}, "packs": [{"id": "core", "root": "build/core", "name": "\ud83c"}]}"#)
    }
  }

  @Test("the order of keys, and whether it is JSON, does not matter")
  func order() throws {
    let first = try project.read(
      """
      serve: {baseURL: "https://cdn.example.com/packs/"}
      hosting: managed
      packs:
        - {id: core, root: build/core, tags: [boot]}
      """)
    var second = try project.read(
      """
      {"packs": [{"tags": ["boot"],
       "root": "build/core", "id": "core"}],
       "hosting": "managed", "serve": {"baseURL": "https://cdn.example.com/packs"}}
      """)

    second.packs[0].position = first.packs[0].position
    #expect(first == second)
  }

  @Test("a headroom is a share or a size")
  func headroom() throws {
    let texts: [(String, UInt64, UInt64)] = [
      ("2 %", 200, 1), ("2.25%", 225, 1), ("0 %", 0, 1), ("1 MiB", 0, 1 << 20),
    ]
    for (text, basisPoints, bytes) in texts {
      let configuration = try project.read(Self.start + Self.core + "headroom: \(text)\n")

      #expect(configuration.headroom == PackerConfiguration.Headroom(basisPoints: basisPoints, bytes: bytes), "\(text)")
    }
  }

  @Test("a byte order mark and Windows line endings change nothing")
  func windows() throws {
    let text = "\u{FEFF}" + (Self.start + Self.core).replacing("\n", with: "\r\n")

    #expect(try project.read(text).packs.count == 1)
    #expect(try project.mistakes("\u{FEFF}pack: 1\r\npack: 2\r\n").contains { $0.hasPrefix("2:1: duplicate key 'pack'") })
  }

  @Test("packs of one each are in the byte order of their names, without hidden directories and files")
  func eachOrder() throws {
    for name in ["zoo", "Ant", "ant2", "a-b"] { try project.directory.makeDirectory("build/sorted/\(name)") }
    try project.directory.makeDirectory("build/sorted/.secret")
    try project.directory.makeDirectory("build/sorted/__MACOSX")
    try project.directory.write("x".utf8, to: "build/sorted/file")

    let configuration = try project.read(Self.start + "packs: [{id: \"${name}\", each: build/sorted/*}]\n")

    #expect(configuration.packs.map(\.id.text) == ["Ant", "a-b", "ant2", "zoo"])
  }

  @Test("without directories, the packs of each are those of a release with names that it would have given")
  func eachReleased() throws {
    let text =
      Self.start
        + """
        packs:
          - {id: "game-${name}", each: nowhere/*/dist, tags: ["of ${name}"], budget: {download: 1MB, message: "${name} is large"}}
          - {id: "game-card-${name}", each: nowhere/cards/*}
          - {id: game-fixed, root: nowhere/fixed}
          - {id: "${name}.${name}", each: nowhere/twice-*}

        """
    #expect(try project.mistakes(text).count == 4)
    let bare = try project.read(text, sources: .optional)
    #expect(bare.packs.map(\.id.text) == ["game-fixed"] && bare.lacksPacks)
    let ids = ["other", "game-", "game-two", "game-one", "game-card-ace", "game-fixed", "twice-a.twice-a", "twice-a.twice-b", "once.once"]
    let released = try project.read(text, sources: .released(ids))
    #expect(!released.lacksPacks)
    #expect(
      released.packs.map { "\($0.id) \($0.rootInProject)" } == [
        "game-one nowhere/one/dist", "game-two nowhere/two/dist", "game-card-ace nowhere/cards/ace", "game-fixed nowhere/fixed",
        "twice-a.twice-a nowhere/twice-a",
      ])
    #expect(released.packs[0].tags == ["of one"] && released.packs[0].budget?.message == "one is large")
    // A directory that is there decides.
    try project.directory.makeDirectory("nowhere/three/dist")
    #expect(try project.read(text, sources: .released(ids)).packs.first?.id.text == "game-three")
    try FileManager.default.removeItem(atPath: project.directory("nowhere"))
    // A broken link is no directory that was left out.
    try FileManager.default.createSymbolicLink(atPath: project.directory("nowhere"), withDestinationPath: "gone")
    #expect(throws: PackError.self) { try project.read(text, sources: .released(ids)) }
    try FileManager.default.removeItem(atPath: project.directory("nowhere"))
  }

  @Test("a path that may match 'each' and cannot be checked is reported, and not left out")
  func eachDoubts() throws {
    let start = Self.start + "packs: [{id: \"${name}\", each: build/doubt/*}]\n"
    try project.directory.makeDirectory("build/doubt/fine")
    try project.directory.makeDirectory("build/plain")
    try FileManager.default.createSymbolicLink(atPath: project.directory("build/doubt/plain"), withDestinationPath: "../plain")
    #expect(try project.read(start).packs.map(\.id.text) == ["fine", "plain"])
    try FileManager.default.createSymbolicLink(atPath: project.directory("build/doubt/gone"), withDestinationPath: "nowhere")
    try FileManager.default.createSymbolicLink(atPath: project.directory("build/doubt/loop"), withDestinationPath: "loop")
    let mistakes = try project.mistakes(start)
    #expect(mistakes.count == 2)
    #expect(mistakes.contains { $0.contains("build/doubt/gone, which may match, is a broken symbolic link") })
    #expect(mistakes.contains { $0.contains("build/doubt/loop, which may match, cannot be read") })
    // A directory without the path after the wildcard does not match.
    let deeper = Self.start + "packs: [{id: \"${name}\", each: build/doubt/*/js}]\n"
    try project.directory.makeDirectory("build/doubt/fine/js")
    #expect(try project.mistakes(deeper).count == 2)
    for name in ["gone", "loop"] { try FileManager.default.removeItem(atPath: project.directory("build/doubt/\(name)")) }
    #expect(try project.read(deeper).packs.map(\.id.text) == ["fine"])
  }

  @Test("a text must follow the same rules with the name of a directory in it")
  func eachTexts() throws {
    for name in ["de", "not_a_language"] { try project.directory.makeDirectory("build/texts/\(name)") }
    let tag = String(repeating: "x", count: 56) + "${name}"
    let mistakes = try project.mistakes(
      Self.start + "packs: [{id: \"${name}\", each: build/texts/*, language: \"${name}\", tags: [\"\(tag)\"]}]\n")
    #expect(mistakes.count == 2)
    let directory = "for the directory build/texts/not_a_language"
    #expect(mistakes.contains { $0.contains("\(directory), 'language' is 'not_a_language', which is not a language tag") })
    #expect(mistakes.contains { $0.contains("\(directory), one of 'tags' is 70 characters long") })
  }

  @Test("a base URL leaves room for the names of packs within the maximum length of a URL")
  func longBaseURL() throws {
    func text(_ count: Int) -> String {
      let front = "https://cdn.example.com/"
      return "serve: {baseURL: \"\(front)\(String(repeating: "a", count: count - front.count))\"}\n" + Self.core
    }
    #expect(try project.mistakes(text(1961)) == [])
    #expect(try project.mistakes(text(1962)).first?.contains("a URL of 1962 bytes; at most 1961 are allowed") == true)
  }

  @Test("a misspelled word gets a suggestion")
  func suggestions() {
    let words: [(String, String?)] = [
      ("delivry", "delivery"), ("Root", "root"), ("excludes", "exclude"), ("bugdet", "budget"), ("zebra", nil), ("x", nil),
    ]
    for (word, expected) in words {
      #expect(SpellingSuggestion.nearest(to: word, among: ["delivery", "root", "exclude", "budget", "id"]) == expected)
    }
  }

  @Test("every key is in the guide, with its default")
  func guide() throws {
    let url = TestVector.testsFolder.deletingLastPathComponent().appendingPathComponent("Documentation/CONFIGURATION.md")
    let text = try String(contentsOf: url, encoding: .utf8)
    let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
    func check(_ map: ConfigurationMap) {
      for key in map.keys {
        let row = rows.contains { row in
          row.hasPrefix("| `\(key.name)` |") && (key.standard.map { row.contains($0.plain) } ?? true)
        }
        #expect(row, "\(key.name) in \(map.noun)")
        for inner in key.shape.maps { check(inner) }
      }
    }
    check(.root)
  }
}

extension JSON {
  /// The value as the guide writes it.
  fileprivate var plain: String {
    if case .text(let text) = self { "`\(text)`" } else { "`\(columns)`" }
  }
}

extension ConfigurationShape {
  fileprivate var maps: [ConfigurationMap] {
    switch self {
    case .scalar, .list: []
    case .map(let map), .maps(let map, _): [map]
    case .either(let left, let right): left.maps + right.maps
    }
  }
}
