/// All output of the process: results on standard output, everything else on standard error. The only file that prints.
///
/// With `--json`, standard output is JSON Lines. The last line, and no other, has the type `result`.
final class Console: Sendable {
  /// Whether results are printed as JSON records instead of text.
  let isJSON: Bool
  /// Whether standard error is a terminal that can move its cursor.
  let hasMovableCursor: Bool

  private let hasColour: Bool
  private let hasOutputColour: Bool
  /// Whether the process runs in GitHub Actions, whose runner interprets some lines as commands.
  private let isInActions = StandardStreams.variable("GITHUB_ACTIONS") == "true"
  private let isErrorTerminal: Bool
  private let files: any FileSystem = SystemFiles()
  private let standardOutput = OpenFile(borrowing: 1)
  private let standardError = OpenFile(borrowing: 2)
  private let state = Monitor(State())

  private struct State {
    var output: [UInt8] = []
    var outputFailure: PackError?
    var hasBar = false
    var isQuiet = false
    var isFinished = false
    /// Warnings that are not repeated.
    var warned: Set<String> = []
  }

  /// The number of bytes collected before they are written.
  private static let bufferSize = 64 << 10
  /// The largest number of details shown on a terminal. Programs and logs get all.
  private static let detailsOnTerminal = 50

  /// Creates a console from the raw arguments, because a mistake in them must be reported in the requested form too.
  init(arguments: [String]) {
    isJSON = Self.asksForJSON(arguments.prefix { $0 != "--" })
    isErrorTerminal = StandardStreams.isTerminal(2)
    let canMove = StandardStreams.variable("TERM").map { $0 != "dumb" } ?? false
    hasMovableCursor = isErrorTerminal && canMove
    hasColour = hasMovableCursor && StandardStreams.variable("NO_COLOR") == nil
    hasOutputColour = StandardStreams.isTerminal(1) && canMove && StandardStreams.variable("NO_COLOR") == nil
  }

  private static func asksForJSON(_ arguments: ArraySlice<String>) -> Bool {
    arguments.contains("--json") || arguments.contains("--format=json")
      || zip(arguments, arguments.dropFirst()).contains { $0 == "--format" && $1 == "json" }
  }

  /// Whether only results, warnings and errors are printed.
  var isQuiet: Bool {
    get { state.withLock { $0.isQuiet } }
    set { state.withLock { $0.isQuiet = newValue } }
  }

  // MARK: Results

  /// Prints a result: the record with `--json`, otherwise the lines.
  func result(_ record: @autoclosure () -> JSON, _ lines: @autoclosure () -> [String] = []) {
    if isJSON {
      let bytes = Self.encode(record())
      state.withLock { append(bytes, to: &$0) }
    } else {
      var bytes: [UInt8] = []
      for line in lines() {
        bytes += coloured(shown(line)).utf8
        bytes.append(0x0A)
      }
      state.withLock { append(bytes, to: &$0) }
    }
  }

  /// Returns the line with the level and the id of a finding in colour, on a terminal.
  private func coloured(_ line: String) -> String {
    guard hasOutputColour, let match = line.prefixMatch(of: /(error|warning|note|accepted) PK[0-9]{4}:/) else { return line }
    let colour = ["error": "31", "warning": "33", "note": "36"][match.output.1] ?? "2"
    return "\u{1B}[1;\(colour)m\(match.output.0)\u{1B}[0m\(line[match.range.upperBound...])"
  }

  /// Prints lines in a format that another program reads.
  func output(lines: [String]) {
    if isJSON { return result(["type": "text", "text": .text(lines.joined(separator: "\n"))]) }
    let bytes = Array(lines.map { printable($0) + "\n" }.joined().utf8)
    state.withLock { append(bytes, to: &$0) }
  }

  /// Prints many lines at once, given as UTF-8, each ending with a line feed. There is no record for `--json`.
  func lines(_ bytes: [UInt8]) {
    guard !Self.isPrintableASCII(lines: bytes.byteSpan) else {
      state.withLock { append(bytes, to: &$0) }
      return
    }
    var printed: [UInt8] = []
    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast() {
      printed += printable(String(decoding: line, as: UTF8.self)).utf8
      printed.append(0x0A)
    }
    state.withLock { append(printed, to: &$0) }
  }

  /// Prints a text: help, the version, or a completion script.
  func output(_ text: String) {
    result(["type": "text", "text": .text(text)], text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
  }

  /// Writes bytes unchanged, and returns when they are written.
  ///
  /// - Parameter remaining: The number of bytes still to come, these included. The error for a full disk names it.
  /// - Throws: ``PackError/Code/outputClosed`` if the reader has closed the pipe.
  func stream(_ bytes: Span<UInt8>, remaining: UInt64) throws(PackError) {
    try state.withLock { (state) throws(PackError) in
      clearBar(&state)
      if let failure = state.outputFailure { throw failure }
      if let failure = write(bytes, remaining: remaining) {
        state.outputFailure = failure
        throw failure
      }
    }
  }

  /// Writes what is still in the buffer.
  func flushOutput() {
    state.withLock { flush(&$0) }
  }

  /// Throws if writing to standard output has failed, so that a long listing ends early.
  func checkOutput() throws(PackError) {
    if let failure = state.withLock({ $0.outputFailure }) { throw failure }
  }

  // MARK: Messages

  /// Prints a note: neither a result nor a warning.
  func note(_ message: String) {
    state.withLock { state in
      guard !state.isQuiet else { return }
      say(["packer: \(shown(message))"], &state)
    }
  }

  /// Prints a warning, which does not stop the work.
  ///
  /// - Parameter once: whether it is not repeated: one about a file that is read several times.
  func warning(_ message: String, hint: String?, once: Bool = false) {
    guard !once || state.withLock({ $0.warned.insert(message).inserted }) else { return }
    if isJSON {
      result(["type": "warning", "message": .text(message), "hint": .text(hint)])
    }
    state.withLock { state in
      say([label("warning", colour: "33", message)] + hints(hint), &state)
    }
  }

  /// Prints an error with its details and its hint.
  func error(_ error: PackError) {
    state.withLock { report(error, &$0) }
  }

  /// Ends all output: prints the error if there is one, then the `result` record, and writes the buffer.
  ///
  /// - Returns: The exit status. It differs from that of the outcome if the results could not be written.
  func finish(_ outcome: Outcome) -> ExitStatus {
    state.withLock { finish(outcome, &$0) }
  }

  /// Does the same for a process that cannot wait: does nothing if another thread is blocked in a write.
  func finishIfFree(_ outcome: Outcome) {
    _ = state.withLockIfFree { finish(outcome, &$0) }
  }

  // MARK: Progress

  /// Draws a progress line. The next output removes it.
  func drawBar(_ text: (_ width: Int) -> String) {
    state.withLock { state in
      guard hasMovableCursor, !state.isFinished else { return }
      // The last column stays free: some terminals wrap as soon as it is filled.
      let line = text(StandardStreams.width(of: 2) - 1)
      state.hasBar = true
      tell("\r\(line)\u{1B}[K")
    }
  }

  /// Removes the progress line.
  func clearBar() {
    state.withLock { clearBar(&$0) }
  }

  // MARK: Inside

  private func finish(_ outcome: Outcome, _ state: inout State) -> ExitStatus {
    guard !state.isFinished else { return outcome.status }
    state.isFinished = true
    clearBar(&state)
    switch outcome {
    case .failed(let error, isReported: false) where error.code != .outputClosed:
      report(error, &state)
    case .stopped(let status):
      report(PackError(.cancelled, status == .interrupted ? "interrupted" : "terminated"), &state)
    default:
      break
    }
    if isJSON { append(Self.encode(outcome.json), to: &state) }
    flush(&state)
    guard let failure = state.outputFailure, failure.code != .outputClosed else { return outcome.status }
    if case .failed(let error, _) = outcome, error.code == failure.code { return outcome.status }
    report(failure, &state)
    return outcome.status == .done ? ExitStatus(for: failure.code) : outcome.status
  }

  private func report(_ error: PackError, _ state: inout State) {
    var lines = [label("error", colour: "31", error.message)]
    // If a file has several mistakes, the first one is already the message.
    let details = error.details.filter { $0 != error.message }.sorted(by: NaturalOrder.precedes)
    let told = isErrorTerminal ? details.prefix(Self.detailsOnTerminal) : details[...]
    lines += told.map { "  \(shown($0))" }
    if told.count < details.count { lines.append("  and \(details.count - told.count) more") }
    say(lines + hints(error.hint), &state)
  }

  private func label(_ word: String, colour: String, _ message: String) -> String {
    let word = hasColour ? "\u{1B}[1;\(colour)m\(word):\u{1B}[0m" : "\(word):"
    return "packer: \(word) \(shown(message))"
  }

  private func hints(_ hint: String?) -> [String] {
    hint?.split(separator: "\n").map { "hint: \(shown(String($0)))" } ?? []
  }

  private func say(_ lines: [String], _ state: inout State) {
    clearBar(&state)
    // Results that were printed earlier come first.
    flush(&state)
    tell(lines.map { $0 + "\n" }.joined())
  }

  /// Writes to standard error. Failures are ignored, because there is no other place to report them.
  private func tell(_ text: String) {
    try? files.writeAll(standardError, Array(text.utf8).byteSpan)
  }

  private func clearBar(_ state: inout State) {
    guard state.hasBar else { return }
    state.hasBar = false
    tell("\r\u{1B}[K")
  }

  private func append(_ bytes: [UInt8], to state: inout State) {
    guard state.outputFailure == nil else { return }
    clearBar(&state)
    state.output += bytes
    if state.output.count >= Self.bufferSize { flush(&state) }
  }

  private func flush(_ state: inout State) {
    guard !state.output.isEmpty else { return }
    defer { state.output.removeAll(keepingCapacity: true) }
    guard state.outputFailure == nil else { return }
    state.outputFailure = write(state.output.byteSpan, remaining: UInt64(state.output.count))
  }

  private func write(_ bytes: Span<UInt8>, remaining: UInt64) -> PackError? {
    unsafe bytes.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        do throws(FileFailure) {
          done += try unsafe files.write(standardOutput, UnsafeRawBufferPointer(rebasing: bytes[done...]))
        } catch {
          if error.isInterruption { continue }
          if error.isBrokenPipe { return PackError(.outputClosed, "standard output was closed") }
          let failure = error.writing("standard output", missingBytes: remaining - UInt64(done))
          // A part of the stream may be written already, so freeing space is not enough.
          return failure.advising(nil)
        }
      }
      return nil
    }
  }

  /// Encodes a record as one line of JSON.
  static func encode(_ record: JSON) -> [UInt8] { Array((record.compact + "\n").utf8) }

  /// Returns the text with everything escaped that must not appear in a line.
  private func shown(_ text: String) -> String {
    let text = printable(text)
    return isInActions ? Self.withoutCommands(text) : text
  }

  /// Returns the text with the commands of GitHub Actions escaped: a file name must not end a group or switch off annotations.
  static func withoutCommands(_ text: String) -> String {
    var result = text.replacing("##[", with: "#\\u{23}[")
    let start = result.prefix { $0.isWhitespace }.endIndex
    if result[start...].hasPrefix("::") { result.replaceSubrange(start...start, with: "\\u{3a}") }
    return result
  }

  private static func isPrintableASCII(lines: Span<UInt8>) -> Bool {
    // Without branches, so that the compiler can vectorise the loop.
    var odd: UInt8 = 0
    for index in lines.indices {
      let byte = lines[index]
      odd |= (byte &- 0x20 < 0x5F ? 0 : 1) & (byte == 0x0A ? 0 : 1)
    }
    return odd == 0
  }
}

/// How a command ended.
enum Outcome: Sendable {
  case done
  /// The command completed with findings. The text counts them.
  case findings(String)
  /// The command checked a release and found faults of this kind.
  case verdict(FindingKind, String)
  /// The command failed.
  ///
  /// - Parameter isReported: Whether the error was printed already, as one of several.
  case failed(PackError, isReported: Bool)
  /// A signal ended the command.
  case stopped(ExitStatus)

  var status: ExitStatus {
    switch self {
    case .done: .done
    case .findings: .findings
    case .verdict(let kind, _): ExitStatus(for: kind)
    case .failed(let error, _): ExitStatus(for: error.code)
    case .stopped(let status): status
    }
  }
}

extension Outcome {
  /// The last record printed with `--json`.
  var json: JSON {
    func record(_ code: String?, _ message: String?, of error: PackError? = nil) -> JSON {
      let details = error?.details ?? []
      return [
        "type": "result", "ok": .flag(status == .done), "exit": .number(status.rawValue), "code": .text(code), "message": .text(message),
        "hint": .text(error?.hint), "subject": .text(error?.subject), "advice": .text(error?.advice?.id),
        "details": details.isEmpty ? nil : .texts(details.sorted(by: NaturalOrder.precedes)),
      ]
    }
    return switch self {
    case .done: record(nil, nil)
    case .findings(let message): record("findings", message)
    case .verdict(let kind, let message): record(kind.rawValue, message)
    case .failed(let error, _): record(error.code.rawValue, error.message, of: error)
    case .stopped(let status): record(PackError.Code.cancelled.rawValue, status == .interrupted ? "interrupted" : "terminated")
    }
  }
}
