import Foundation
import PackFiles
import PackManifest
import PackRuntime
import TestSupport
import Testing

@testable import PackerKit

/// A case of `Tests/Configurations`.
struct ConfigurationCase: Sendable, CustomTestStringConvertible {
  var name: String
  /// Line, column and sentence of each mistake.
  var mistakes: [String] = []
  var text = ""

  var testDescription: String { name }

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

/// A directory with the trees that configurations of tests name.
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

  func read(_ text: String) throws -> PackerConfiguration {
    try PackerConfiguration.read(write(text))
  }

  func mistakes(_ text: String) throws -> [String] {
    try PackerConfiguration.mistakes(in: write(text)).map { "\($0.position.line):\($0.position.column): \($0.message)" }
  }
}

@Suite("A configuration")
struct ConfigurationTests {
  private let project: ConfiguredProject

  /// The least that a configuration says, with room for more.
  private static let start = "serve: {baseURL: \"https://cdn.example.com/packs/\"}\n"
  private static let core = "packs: [{id: core, root: build/core}]\n"

  init() throws {
    project = try ConfiguredProject()
  }

  @Test("is refused with every mistake, and where it stands", arguments: ConfigurationCase.refused)
  func refused(_ sample: ConfigurationCase) throws {
    let mistakes = try project.mistakes(sample.text)

    #expect(!mistakes.isEmpty)
    #expect(mistakes == sample.mistakes)
  }

  @Test("is accepted", arguments: ConfigurationCase.accepted)
  func accepted(_ sample: ConfigurationCase) throws {
    #expect(try project.mistakes(sample.text) == [])
  }

  @Test("there are enough wrong ones")
  func count() {
    #expect(ConfigurationCase.refused.count >= 60)
    #expect(ConfigurationCase.accepted.count >= 4)
  }
}
