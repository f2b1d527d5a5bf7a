import Foundation
import Testing

@Suite("The command line behaves as in its transcripts")
struct TranscriptTests {
  @Test("transcript", arguments: Transcript.all)
  func transcript(_ name: String) throws {
    let transcript = try Transcript(named: name)
    let stage = try Stage()
    defer { stage.remove() }
    try transcript.play(on: stage)
  }
}

/// A script of commands with their expected output, and the files it starts with.
///
/// The form is that of Go's testscript: one command per line, with `!` in front if it must fail. The files follow the first `-- NAME --` line.
/// README.md in `Scripts` lists the commands.
struct Transcript {
  let name: String
  private var lines: [(number: Int, text: String)] = []
  private var files: [(name: String, text: String)] = []

  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Scripts")

  /// The names of all scripts.
  static var all: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(".txt") }.map { String($0.dropLast(4)) }.sorted()
  }

  init(named name: String) throws {
    self.name = name
    let text = try String(contentsOf: Self.folder.appendingPathComponent(name + ".txt"), encoding: .utf8)
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line.hasPrefix("-- "), line.hasSuffix(" --"), line.count > 6 {
        files.append((String(line.dropFirst(3).dropLast(3)), ""))
      } else if files.isEmpty {
        lines.append((index + 1, String(line)))
      } else {
        files[files.count - 1].text += line + "\n"
      }
    }
    // The last line break ends the file; it does not start another line.
    if let last = files.indices.last, files[last].text.hasSuffix("\n\n") { files[last].text.removeLast() }
  }

  func play(on stage: Stage) throws {
    for file in files { try stage.write(Data(file.text.utf8), to: file.name) }
    for line in lines {
      do {
        var words = try Self.words(of: line.text, variables: stage.variables)
        guard let first = words.first else { continue }
        let isNegated = first == "!"
        if isNegated { words.removeFirst() }
        guard let command = words.first else { throw ScriptError("nothing follows '!'") }
        try stage.perform(command, Array(words.dropFirst()), isNegated: isNegated)
      } catch {
        // The cause stands in the first line, which is all that a summary has.
        throw ScriptError("\(name).txt:\(line.number): \(error): \(line.text)\n\(stage.transcript)")
      }
    }
  }

  /// Splits a line at spaces. Single quotes group words and keep `$` unchanged. Two single quotes inside quotes stand for one. `#` starts a comment.
  static func words(of line: String, variables: [String: String]) throws -> [String] {
    var words: [String] = []
    var word: String?
    var rest = Substring(line)
    while let character = rest.popFirst() {
      switch character {
      case " ":
        if let finished = word { words.append(finished) }
        word = nil
      case "#" where word == nil:
        return words
      case "'":
        word = word ?? ""
        while true {
          guard let end = rest.firstIndex(of: "'") else { throw ScriptError("a quote is not closed") }
          word? += rest[..<end]
          rest = rest[rest.index(after: end)...]
          guard rest.first == "'" else { break }
          rest.removeFirst()
          word? += "'"
        }
      case "$":
        let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        rest = rest.dropFirst(name.count)
        guard let value = variables[String(name)] else { throw ScriptError("$\(name) is not set") }
        word = (word ?? "") + value
      default:
        word = (word ?? "") + String(character)
      }
    }
    if let word { words.append(word) }
    return words
  }
}

struct ScriptError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
