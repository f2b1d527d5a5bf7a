import Foundation
import TestSupport
import Testing

@Suite("The gate stops what people, machines and attackers do to a release")
struct HabitTests {
  @Test("habit", arguments: Habit.sample)
  func habit(_ habit: Habit) throws {
    let place = try HabitRelease.shared.get().copy()
    defer { place.remove() }
    try habit.play(in: place)
  }

  @Test("at least 120 of them are no harmless ones, and each has a sentence of its own")
  func count() {
    #expect(Habit.all.count { $0.file != "harmless" } >= 120)
    #expect(Set(Habit.all.map(\.sentence)).count == Habit.all.count)
    #expect(Habit.all.allSatisfy { habit in habit.lines.contains { $0.text.contains(Habit.arrow) } })
  }
}

/// Something that happens to a release, and what the tool must say then. `release.txt` in `Scripts/Habits` has the form of the files.
struct Habit: Sendable, CustomTestStringConvertible {
  let file: String
  let sentence: String
  fileprivate(set) var lines: [(number: Int, text: String)] = []

  static let arrow = " => "
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Scripts/Habits")

  var testDescription: String { "\(file): \(sentence)" }

  /// The habits of all files except the one that makes the release.
  static let all: [Habit] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(".txt") && $0 != "release.txt" }.sorted().flatMap { name -> [Habit] in
      let text = (try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)) ?? ""
      var habits: [Habit] = []
      for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
        if line.hasPrefix("## ") {
          habits.append(Habit(file: String(name.dropLast(4)), sentence: String(line.dropFirst(3))))
        } else if !habits.isEmpty {
          habits[habits.count - 1].lines.append((index + 1, String(line)))
        }
      }
      return habits
    }
  }()

  /// Those that can be played here. ThreadSanitizer maps a large file when a program starts, which a limit of file sizes forbids.
  static let playable = all.filter { habit in
    ProcessInfo.processInfo.environment["PACKER_SANITIZER"] != "thread" || !habit.lines.contains { $0.text.contains("ulimit -f") }
  }

  /// Those that this run plays: half of each file, or all if everything is tried.
  static let sample = Dictionary(grouping: playable, by: \.file).sorted { $0.key < $1.key }.flatMap { file, habits in
    Effort.sample(of: habits, max(2, habits.count / 2), for: file)
  }

  func play(in place: HabitRelease) throws {
    for line in lines {
      do {
        if let range = line.text.range(of: Self.arrow) {
          let expected = try Expectation(Transcript.words(of: String(line.text[range.upperBound...]), variables: place.variables))
          try place.judge(String(line.text[..<range.lowerBound]), expected)
        } else {
          try place.perform(line.text)
        }
      } catch {
        throw ScriptError("Habits/\(file).txt:\(line.number): \(line.text)\n\(error)\n\(place.said)")
      }
    }
  }

  /// What a judged command must end with, print and change.
  struct Expectation {
    var status: Int32 = 0
    /// The rules of all findings, by level.
    var rules: [String: Set<String>] = [:]
    var texts: [String] = []
    var absent: [String] = []
    /// What the command may change.
    var changes: [String] = []

    init(_ words: [String]) throws {
      guard let first = words.first, let status = Int32(first) else { throw ScriptError("no status follows '=>'") }
      self.status = status
      var kind = ""
      for word in words.dropFirst() {
        if ["error", "warning", "note", "accepted", "says", "hides", "changes"].contains(word) {
          kind = word
        } else if kind == "says" {
          texts.append(word)
        } else if kind == "hides" {
          absent.append(word)
        } else if kind == "changes" {
          changes.append(word)
        } else {
          guard !kind.isEmpty else { throw ScriptError("'\(word)' has no kind") }
          rules[kind, default: []].insert(word)
        }
      }
    }
  }
}

/// A copy of a small project with two recorded releases and one released app.
final class HabitRelease: @unchecked Sendable {
  /// The values of `$NAME`, which are also the environment of commands.
  private(set) var variables: [String: String]
  private(set) var said = ""

  private let root: String
  private var work: String { root + "/work" }

  private static let files = FileManager.default
  private static let seconds: TimeInterval = 120

  /// The project that all habits start with. It is made once.
  static let shared = Result {
    let release = try HabitRelease(try TestPlace.newPath())
    let text = try String(contentsOf: Habit.folder.appendingPathComponent("release.txt"), encoding: .utf8)
    let parts = text.split(separator: "\n-- ", maxSplits: 1).map(String.init)
    for part in "\n-- \(parts[1])".components(separatedBy: "\n-- ").dropFirst() {
      let halves = part.components(separatedBy: " --\n")
      try release.write(Array((halves[1] + "\n").utf8), to: halves[0])
    }
    for line in parts[0].split(separator: "\n") {
      do { try release.perform(String(line)) } catch { throw ScriptError("release.txt: \(line)\n\(error)\n\(release.said)") }
    }
    return release
  }

  private init(_ root: String) throws {
    self.root = root
    variables = [
      "WORK": root + "/work", "SHELF": root + "/shelf", "HOME": root, "LC_ALL": "C.UTF-8", "TERM": "dumb", "ESC": "\u{1B}",
      "PACKER": ToolProcess.tool, "TMPDIR": root + "/tmp",
    ]
    // PATH for the programs of the system, the others for builds with sanitizers, for coverage and for planted faults.
    for name in ["PATH", "ASAN_OPTIONS", "TSAN_OPTIONS", "LD_LIBRARY_PATH", "LLVM_PROFILE_FILE", "PACKER_FAULT"] {
      variables[name] = ProcessInfo.processInfo.environment[name]
    }
    for name in ["tmp", "shelf", "work"] { try Self.files.createDirectory(atPath: "\(root)/\(name)", withIntermediateDirectories: true) }
  }

  /// Returns a copy in a new directory.
  func copy() throws -> HabitRelease {
    let place = try HabitRelease(try TestPlace.newPath())
    try Self.files.removeItem(atPath: place.work)
    try Self.files.copyItem(atPath: work, toPath: place.work)
    place.variables["SHELF"] = variables["SHELF"]
    return place
  }

  func remove() {
    try? Self.files.removeItem(atPath: root)
  }

  // MARK: Commands

  /// Runs a command of a habit, which must succeed.
  func perform(_ line: String) throws {
    if line.hasPrefix("$ ") {
      let status = try shell(String(line.dropFirst(2)))
      guard status == 0 else { throw ScriptError("it ended with \(status)") }
      return
    }
    let words = try Transcript.words(of: line, variables: variables)
    guard let first = words.first else { return }
    switch (first, words.count) {
    case ("packer", _):
      let status = try run(ToolProcess.tool, Array(words.dropFirst()))
      guard status == 0 else { throw ScriptError("it ended with \(status)") }
    case ("env", 2...):
      for word in words.dropFirst() {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        variables[parts[0]] = parts.count == 2 ? parts[1] : nil
      }
    case ("write", 3): try write(Array(words[2].utf8), to: words[1])
    case ("append", 3): try change(words[1]) { $0 += Array(words[2].utf8) }
    case ("replace", 4):
      let (old, new) = (Array(words[2].utf8), Array(words[3].utf8))
      try change(words[1]) { $0 = try Self.replace(old, new, in: $0) }
    case ("ipa", 2...): try makeApp(words)
    case ("crlf", 2): try change(words[1]) { $0 = $0.flatMap { $0 == 10 ? [13, 10] : [$0] } }
    case ("bom", 2): try change(words[1]) { $0 = [0xEF, 0xBB, 0xBF] + $0 }
    case ("utf16", 2):
      try change(words[1]) {
        $0 = [0xFF, 0xFE] + String(decoding: $0, as: UTF8.self).utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
      }
    case ("fill", 3): try write(Self.noise(Int(words[2]) ?? 0), to: words[1])
    case ("truncate", 3): try change(words[1]) { $0.removeLast($0.count - (try Self.position(words[2], in: $0))) }
    case ("flip", 3): try change(words[1]) { $0[try Self.position(words[2], in: $0)] ^= 1 }
    default: throw ScriptError("there is no command '\(first)' with \(words.count - 1) words")
    }
  }

  /// Runs a command, and checks its status, its findings, and that it changed nothing else than expected.
  func judge(_ line: String, _ expected: Habit.Expectation) throws {
    let before = try contents()
    let status: Int32
    if line.hasPrefix("$ ") {
      status = try shell(String(line.dropFirst(2)))
    } else {
      var words = try Transcript.words(of: line, variables: variables)
      if words.first == "gate" { words.replaceSubrange(0..<1, with: ["packer", "verify", "--plist", "App/Info.plist"]) }
      guard words.first == "packer" else { throw ScriptError("only packer and the shell can be judged") }
      status = try run(ToolProcess.tool, Array(words.dropFirst()))
    }
    let after = try contents()
    var faults: [String] = []
    let found = findings()
    if status != expected.status { faults.append("it ended with \(status)") }
    if found != expected.rules {
      faults.append(
        "it found \(found.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.sorted().joined(separator: " "))" }.joined(separator: " "))"
      )
    }
    for text in expected.texts where !said.contains(text) { faults.append("it did not say '\(text)'") }
    for text in expected.absent where said.contains(text) { faults.append("it said '\(text)'") }
    let touched = Set(before.keys).union(after.keys).filter { path in
      before[path] != after[path] && !expected.changes.contains { path == $0 || path.hasPrefix($0 + "/") }
    }
    if !touched.isEmpty { faults.append("it changed \(touched.sorted().joined(separator: ", "))") }
    guard faults.isEmpty else { throw ScriptError(faults.joined(separator: "; ")) }
  }

  private func shell(_ command: String) throws -> Int32 { try run("/bin/sh", ["-c", command]) }

  private func run(_ program: String, _ words: [String]) throws -> Int32 {
    let tool = try ToolProcess(
      words, program: program, in: work, variables: variables, output: root + "/stdout", errors: root + "/stderr")
    let status = try tool.wait(seconds: Self.seconds)
    said = ["stdout", "stderr"].map { String(decoding: Self.files.contents(atPath: "\(root)/\($0)") ?? Data(), as: UTF8.self) }.joined()
    return status
  }

  /// The rules that the last command printed, by level.
  private func findings() -> [String: Set<String>] {
    var found: [String: Set<String>] = [:]
    for match in said.matches(of: /(?m)^(?:[^\n]*: )?(error|warning|note|accepted) (PK[0-9]{4})/) {
      found[String(match.1), default: []].insert(String(match.2))
    }
    return found
  }

  // MARK: Files

  /// Returns what is in the project: the kind, executable bit and content of every path.
  private func contents() throws -> [String: Data] {
    guard let walk = Self.files.enumerator(atPath: work) else { throw ScriptError("the project is gone") }
    var items: [String: Data] = [:]
    for case let item as String in walk {
      let path = "\(work)/\(item)"
      let kind = try Self.files.attributesOfItem(atPath: path)[.type] as? FileAttributeType
      switch kind {
      case .typeRegular: items[item] = Self.files.contents(atPath: path) ?? Data("unreadable".utf8)
      case .typeSymbolicLink: items[item] = Data("link to \(try Self.files.destinationOfSymbolicLink(atPath: path))".utf8)
      default: items[item] = Data("\(kind?.rawValue ?? "")".utf8)
      }
    }
    return items
  }

  /// Returns the path of a name. A `*` stands for what exactly one file has there.
  private func path(_ name: String) throws -> String {
    guard name.contains("*") else { return name.hasPrefix("/") ? name : "\(work)/\(name)" }
    let folder = name.split(separator: "/").dropLast().joined(separator: "/")
    let parts = name.dropFirst(folder.isEmpty ? 0 : folder.count + 1).split(separator: "*", omittingEmptySubsequences: false)
    let names = try Self.files.contentsOfDirectory(atPath: "\(work)/\(folder)").filter { $0.hasPrefix(parts[0]) && $0.hasSuffix(parts[1]) }
    guard names.count == 1 else { throw ScriptError("\(name) stands for \(names.sorted())") }
    return "\(work)/\(folder)/\(names[0])"
  }

  private func write(_ bytes: [UInt8], to name: String) throws {
    let url = URL(fileURLWithPath: try path(name))
    try Self.files.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(bytes).write(to: url)
  }

  private func change(_ name: String, _ body: (inout [UInt8]) throws -> Void) throws {
    let url = URL(fileURLWithPath: try path(name))
    var bytes = [UInt8](try Data(contentsOf: url))
    let before = bytes
    try body(&bytes)
    guard bytes != before else { throw ScriptError("\(name) does not change") }
    try Data(bytes).write(to: url)
  }

  /// Makes an .ipa: `ipa FILE PLACE=PATH...` with the Info.plist of the project, version 2.0, a signed executable and a signed downloader extension.
  /// At further places it has files of the project, or nothing if the path is empty. `PLACE=unsigned` stands for an executable without a signature.
  private func makeApp(_ words: [String]) throws {
    var app = SampleApp()
    let identity = "<key>CFBundleExecutable</key><string>Game</string><key>CFBundleShortVersionString</key><string>2.0</string>"
    let members = identity + "<key>CFBundleSupportedPlatforms</key><array><string>iPhoneOS</string></array>"
    let plist = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try path("App/Info.plist"))))
    let start = "\n  <key>AppGroupIdentifier"
    app.files["Info.plist"] = try Self.replace(Array(start.utf8), Array((members + start).utf8), in: plist)
    for word in words.dropFirst(2) {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2 else { throw ScriptError("'\(word)' is not PLACE=PATH") }
      switch parts[1] {
      case "": app.files[parts[0]] = nil
      case "unsigned": app.files[parts[0]] = SampleExecutable(isSigned: false).bytes
      default: app.files[parts[0]] = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try path(parts[1]))))
      }
    }
    try write(app.ipa(), to: words[1])
  }

  private static func replace(_ old: [UInt8], _ new: [UInt8], in bytes: [UInt8]) throws -> [UInt8] {
    var result: [UInt8] = []
    var rest = bytes[...]
    while let range = rest.firstRange(of: old) {
      result += rest[..<range.lowerBound] + new
      rest = rest[range.upperBound...]
    }
    guard rest.count < bytes.count else { throw ScriptError("'\(String(decoding: old, as: UTF8.self))' is not in it") }
    return result + rest
  }

  private static func position(_ text: String, in bytes: [UInt8]) throws -> Int {
    let number = Int(text) ?? .max
    let position = number < 0 ? bytes.count + number : number
    guard bytes.indices.contains(position) else { throw ScriptError("it has only \(bytes.count) bytes") }
    return position
  }

  /// Bytes that do not compress. They are the same in each run.
  private static func noise(_ count: Int) -> [UInt8] {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    return (0..<count).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 56)
    }
  }
}
