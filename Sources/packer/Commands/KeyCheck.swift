import ArgumentParser
import PackRuntime
import PackerKit

/// `packer key check`
struct KeyCheck: Verb {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Says of each pack whether the key opens it, without reading it whole.",
    discussion: """
      The exit status is 11 if the key is not the one of some pack. 'packer verify' checks the content too.

      Examples:
        packer key check game.pack --key game.key
        packer key check dist/*.pack --key env:GAME_KEY
      """)

  @Argument(help: "The packs.", completion: .file())
  var files: [String]

  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    let resolved = try session.key(key)
    var outcomes = Outcomes()
    for file in files {
      try Task.checkCancelled()
      do throws(PackError) {
        let pack = try naming(file) { () throws(PackError) in try Pack.open(file, key: resolved.key) }
        session.console.result(
          CheckRecord(file: file, ok: true, keyID: "\(pack.keyID)"), ["\(file): ok, key \(pack.keyID) opens it"])
      } catch {
        try outcomes.add(error, of: file, to: session.console)
      }
    }
    return outcomes.worst
  }
}

private struct CheckRecord: Encodable {
  let type = "file"
  let file: String
  let ok: Bool
  let keyID: String
}

extension Outcomes {
  /// Reports a file that failed and goes on, unless the user wants to stop.
  mutating func add(_ error: PackError, of file: String, to console: Console) throws(PackError) {
    guard error.code != .cancelled else { throw error }
    console.result(FailureRecord(file: file, error: error), ["\(file): failed, \(error.code)"])
    console.error(error)
    add(.failed(error, isReported: true))
  }
}

/// One of several files that something is wrong with.
struct FailureRecord: Encodable {
  let type = "file"
  let file: String
  let ok = false
  let code: String
  let message: String
  let hint: String?
  let details: [String]?

  init(file: String, error: PackError) {
    self.file = file
    code = error.code.rawValue
    message = error.message
    hint = error.hint
    details = error.details.isEmpty ? nil : error.details.sorted()
  }
}

/// The outcomes of several files, of which the worst counts.
struct Outcomes {
  private(set) var worst = Outcome.done

  mutating func add(_ outcome: Outcome) {
    if outcome.status > worst.status { worst = outcome }
  }
}

extension Task where Success == Never, Failure == Never {
  /// Throws where the task was cancelled.
  static func checkCancelled() throws(PackError) {
    guard !isCancelled else { throw PackError(.cancelled, "cancelled") }
  }
}
