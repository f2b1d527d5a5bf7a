import Foundation
import TestSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The temporary directory and the environment variables in which one transcript runs.
final class Stage {
  /// The values of `$NAME` in the transcript, which are also the environment of commands.
  private(set) var variables: [String: String]

  private let root: URL
  private let work: URL
  private var input: String?
  private var status: Int32?
  private var output = Data()
  private var errors = Data()

  private static let files = FileManager.default
  private static let deadline: TimeInterval = 120

  init() throws {
    root = URL(fileURLWithPath: try TestPlace.newPath())
    work = root.appendingPathComponent("work")
    try Self.files.createDirectory(at: work, withIntermediateDirectories: true)
    variables = ["WORK": work.path, "HOME": root.path, "LC_ALL": "C.UTF-8", "TERM": "dumb", "ESC": "\u{1B}"]
    // PATH for the programs that print keys, the others for builds with sanitizers, for coverage and for planted faults.
    for name in ["PATH", "ASAN_OPTIONS", "TSAN_OPTIONS", "LD_LIBRARY_PATH", "LLVM_PROFILE_FILE", "PACKER_FAULT"] {
      variables[name] = ProcessInfo.processInfo.environment[name]
    }
  }

  func remove() {
    try? Self.files.removeItem(at: root)
  }

  /// The status and outputs of the last command, for messages.
  var transcript: String {
    "[status] \(status.map { "\($0)" } ?? "none")\n[stdout]\n\(text(output))[stderr]\n\(text(errors))"
  }

  func perform(_ command: String, _ words: [String], isNegated: Bool) throws {
    switch command {
    case "packer":
      try run(words, closingOutput: false)
      try expect((status == 0) != isNegated, "it ended with \(status ?? -1)")
    case "packer-unread":
      try run(words, closingOutput: true)
      try expect((status == 0) != isNegated, "it ended with \(status ?? -1)")
    case "stdout", "stderr":
      try expect(
        try matches(command == "stdout" ? output : errors, words) != isNegated, "the text is \(isNegated ? "" : "not ")in the output")
    case "exists":
      for word in words {
        let exists = (try? Self.files.attributesOfItem(atPath: path(word))) != nil
        try expect(exists != isNegated, "\(word) \(exists ? "exists" : "does not exist")")
      }
    default:
      guard !isNegated else { throw ScriptError("'\(command)' takes no '!'") }
      try perform(command, words)
    }
  }

  private func perform(_ command: String, _ words: [String]) throws {
    switch command {
    case "status":
      try expect(words == ["\(status ?? -1)"], "the status is \(status ?? -1)")
    case "stdout-empty":
      try expect(output.isEmpty, "standard output is not empty")
    case "stderr-empty":
      try expect(errors.isEmpty, "standard error is not empty")
    case "json":
      try checkRecords(words)
    case "capture":
      variables[try word(0, of: words)] = text(output).trimmingCharacters(in: .whitespacesAndNewlines)
    case "save":
      try write(output, to: try word(0, of: words))
    case "mkdir":
      for word in words { try Self.files.createDirectory(atPath: path(word), withIntermediateDirectories: true) }
    case "write":
      try write(Data(try word(1, of: words).utf8), to: try word(0, of: words))
    case "fill":
      try fill(try word(0, of: words), count: try number(1, of: words))
    case "cp":
      try Self.files.copyItem(atPath: path(try word(0, of: words)), toPath: path(try word(1, of: words)))
    case "rm":
      for word in words { try Self.files.removeItem(atPath: path(word)) }
    case "symlink":
      try Self.files.createSymbolicLink(
        atPath: path(try word(1, of: words)), withDestinationPath: try word(0, of: words))
    case "chmod", "mode":
      try mode(command, words)
    case "env":
      for word in words {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        variables[parts[0]] = parts.count == 2 ? parts[1] : nil
      }
    case "stdin":
      input = path(try word(0, of: words))
    case "cmp":
      let (left, right) = (path(try word(0, of: words)), path(try word(1, of: words)))
      try expect(Self.files.contents(atPath: left) == Self.files.contents(atPath: right), "the files differ")
    case "cmp-tree":
      let (left, right) = (try tree(try word(0, of: words)), try tree(try word(1, of: words)))
      try expect(left == right, "the trees differ: \(Set(left).symmetricDifference(right).sorted())")
    case "names":
      // All names in a directory, including hidden ones, to check that no temporary files are left.
      let names = try Self.files.contentsOfDirectory(atPath: path(try word(0, of: words))).sorted()
      try expect(names == Array(words.dropFirst()).sorted(), "it contains \(names.joined(separator: " "))")
    case "truncate", "flip", "append":
      try change(command, words)
    default:
      throw ScriptError("there is no command '\(command)'")
    }
  }

  func write(_ data: Data, to name: String) throws {
    let url = URL(fileURLWithPath: path(name))
    try Self.files.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: url)
  }

  // MARK: The tool

  private func run(_ words: [String], closingOutput: Bool) throws {
    let outputPath = root.appendingPathComponent("stdout")
    let errorPath = root.appendingPathComponent("stderr")
    let tool = try ToolProcess(
      words, in: work.path, variables: variables, input: input ?? "/dev/null", output: closingOutput ? nil : outputPath.path,
      errors: errorPath.path)
    input = nil
    status = try tool.wait(seconds: Self.deadline)
    output = closingOutput ? Data() : try Data(contentsOf: outputPath)
    errors = try Data(contentsOf: errorPath)
  }

  // MARK: Checks

  private func matches(_ data: Data, _ words: [String]) throws -> Bool {
    if words.first == "~" {
      let expression = try Regex(try word(1, of: words)).anchorsMatchLineEndings()
      return text(data).firstMatch(of: expression) != nil
    }
    return text(data).contains(try word(0, of: words))
  }

  /// Checks that standard output is JSON Lines with exactly one `result`, the last line, and that it has the given fields.
  private func checkRecords(_ words: [String]) throws {
    var records: [[String: Any]] = []
    for line in text(output).split(separator: "\n") {
      guard let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
        throw ScriptError("a line is not an object: \(line)")
      }
      records.append(record)
    }
    let results = records.indices.filter { records[$0]["type"] as? String == "result" }
    try expect(results == [records.count - 1], "results are the records \(results) of \(records.count)")
    try expect(records.allSatisfy { $0["type"] is String }, "a record has no type")
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2 else { throw ScriptError("'\(word)' is not NAME=VALUE") }
      let value = records.last?[parts[0]]
      let shown: String =
        switch value {
        case let text as String: text
        case let number as NSNumber: parts[0] == "ok" ? "\(number.boolValue)" : "\(number)"
        default: "missing"
        }
      try expect(shown == parts[1], "\(parts[0]) is \(shown)")
    }
  }

  /// Returns all paths below a directory, with kind, executable bit and content.
  private func tree(_ name: String) throws -> [String] {
    guard let walk = Self.files.enumerator(atPath: path(name)) else { throw ScriptError("\(name) is not a directory") }
    var items: [String] = []
    for case let item as String in walk {
      let full = path(name) + "/" + item
      let attributes = try Self.files.attributesOfItem(atPath: full)
      let isDirectory = attributes[.type] as? FileAttributeType == .typeDirectory
      let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
      let content = isDirectory ? "" : Self.files.contents(atPath: full)?.base64EncodedString() ?? "unreadable"
      items.append("\(item) \(isDirectory ? "d" : mode & 0o111 != 0 ? "x" : "f") \(content)")
    }
    return items.sorted()
  }

  private func expect(_ condition: @autoclosure () throws -> Bool, _ message: @autoclosure () -> String) throws {
    guard try condition() else { throw ScriptError(message()) }
  }

  // MARK: Files

  private func mode(_ command: String, _ words: [String]) throws {
    guard let mode = Int(try word(0, of: words), radix: 8) else { throw ScriptError("the mode is not an octal number") }
    let file = path(try word(1, of: words))
    if command == "chmod" {
      try Self.files.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    } else {
      let actual = (try Self.files.attributesOfItem(atPath: file)[.posixPermissions] as? NSNumber)?.intValue ?? 0
      try expect(actual == mode, "the mode is \(String(actual, radix: 8))")
    }
  }

  /// Runs `truncate FILE N`, `flip FILE N` or `append FILE TEXT`. A negative N counts from the end.
  private func change(_ command: String, _ words: [String]) throws {
    let name = try word(0, of: words)
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name))))
    if command == "append" {
      bytes += try word(1, of: words).utf8
    } else {
      let number = try number(1, of: words)
      let position = number < 0 ? bytes.count + number : number
      guard (0...bytes.count).contains(position) else { throw ScriptError("\(name) has only \(bytes.count) bytes") }
      if command == "truncate" {
        bytes.removeLast(bytes.count - position)
      } else {
        guard position < bytes.count else { throw ScriptError("\(name) has only \(bytes.count) bytes") }
        bytes[position] ^= 1
      }
    }
    try write(Data(bytes), to: name)
  }

  /// Writes bytes that do not compress. They are the same in each run.
  private func fill(_ name: String, count: Int) throws {
    var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    for _ in 0..<count {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      bytes.append(UInt8(truncatingIfNeeded: state >> 56))
    }
    try write(Data(bytes), to: name)
  }

  private func path(_ name: String) -> String {
    name.hasPrefix("/") ? name : work.path + "/" + name
  }

  private func text(_ data: Data) -> String {
    String(decoding: data, as: UTF8.self)
  }

  private func word(_ index: Int, of words: [String]) throws -> String {
    guard index < words.count else { throw ScriptError("a word is missing") }
    return words[index]
  }

  private func number(_ index: Int, of words: [String]) throws -> Int {
    guard let number = Int(try word(index, of: words)) else { throw ScriptError("a number is missing") }
    return number
  }
}
