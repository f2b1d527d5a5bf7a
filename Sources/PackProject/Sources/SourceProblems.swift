/// The problems of a source tree: all paths that cannot be packed, not only the first.
package final class SourceProblems: Sendable {
  private struct Problem {
    var path: String
    var problem: String
    var error: PackError
    /// Whether it may be a secret.
    var isSecret = false
  }

  private let sourceProblems = Monitor<[Problem]>([])
  /// How hints name the settings of the pack.
  let words: SettingWords

  package init(_ words: SettingWords = .options) {
    self.words = words
  }

  /// Whether there are no problems.
  package var isEmpty: Bool { sourceProblems.withLock { $0.isEmpty } }

  /// The error of the first path that could not be read.
  var firstUnread: PackError? { sorted.first { $0.error.code == .cannotRead }?.error }

  func add(_ path: String, _ code: PackError.Code, _ problem: String, hint: String? = nil) {
    let error = PackError(code, of: Self.shown(path), problem, hint: hint)
    sourceProblems.withLock { $0.append(Problem(path: path, problem: problem, error: error)) }
  }

  /// Adds a file that may be a secret.
  func addSecret(_ path: String, _ reason: String) {
    let error = PackError(
      .unsuitableSource, of: Self.shown(path), reason, hint: "exclude it with \(words.exclude), or allow it with \(words.allowSecrets)")
    sourceProblems.withLock { $0.append(Problem(path: path, problem: reason, error: error, isSecret: true)) }
  }

  /// Returns the path for messages: in quotes if a blank at the start or end of a name could not be seen otherwise.
  private static func shown(_ path: String) -> String {
    let hasBlanks = path.split(separator: "/").contains { $0.first?.isWhitespace == true || $0.last?.isWhitespace == true }
    return hasBlanks ? "'\(path)'" : path
  }

  /// Throws all problems as one error, if there are any: one line each, in the order of the paths.
  package func check(_ source: String) throws(PackError) {
    let all = sorted
    guard let first = all.first else { return }
    guard all.count > 1 else { throw first.error.about(source) }
    let codes = Set(all.map(\.error.code))
    throw PackError(
      codes.count == 1 ? first.error.code : .unsuitableSource, "\(all.count) paths cannot be packed", details: all.map(\.error.message),
      advice: .all(of: all.map(\.error))
    ).about(source)
  }

  /// Returns all problems as differences from a pack, which cannot contain these paths, and removes them from the list.
  package func takeFindings() -> [TreeDifference] {
    takeRefusals().map(\.finding)
  }

  /// Does the same as ``takeFindings()``, and marks the paths that may be secrets.
  func takeRefusals() -> [(finding: TreeDifference, isSecret: Bool)] {
    let all = sorted
    sourceProblems.withLock { $0 = [] }
    return all.map { (TreeDifference(kind: .extra, path: $0.path, message: $0.problem), $0.isSecret) }
  }

  private var sorted: [Problem] {
    var all: [Problem] = []
    // A file may be added more than once, with different problems if it changes in between.
    for problem in sourceProblems.withLock({ $0 }).sorted(by: { ($0.path, $0.problem) < ($1.path, $1.problem) })
    where all.last.map({ !$0.path.utf8.elementsEqual(problem.path.utf8) }) ?? true {
      all.append(problem)
    }
    return all
  }
}

extension PackError.Advice {
  /// Returns the advice of several errors, one piece per line and without duplicates; nil if there is none.
  package static func all(of errors: [PackError]) -> Self? {
    var lines: [String] = []
    for line in errors.compactMap(\.advice?.description) where !lines.contains(line) { lines.append(line) }
    return lines.isEmpty ? nil : .developer(lines.joined(separator: "\n"))
  }
}
