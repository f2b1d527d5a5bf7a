/// Sends requests with `curl`: one run for all of them, a few at a time over connections that stay
/// open. Bodies are in a folder of its own until they were hashed.
struct CurlFetcher: LiveFetcher {
  let files: any FileSystem
  private let scratch: ScratchFolder
  private var folder: String { scratch.path }

  /// The largest number of requests at a time.
  private static let most = 4

  /// Makes the folder.
  init(files: any FileSystem) throws(PackError) {
    self.files = files
    scratch = try ScratchFolder(files: files)
  }

  func fetch(_ requests: [LiveRequest]) async throws(PackError) -> [LiveAnswer] {
    var answers = requests.map { LiveAnswer(url: $0.url, failure: -1, failureText: "no answer") }
    var open = Array(requests.indices)
    // A connection that broke is no finding; one that breaks again is. Curl itself tries again after a timeout.
    for attempt in 0..<3 where !open.isEmpty {
      if attempt > 0 { try await LiveInspection.pause(.seconds(attempt)) }
      var rest = open
      while !rest.isEmpty {
        let begun = try await run(rest.map { (number: $0, request: requests[$0]) }, &answers)
        // A body without end stops all. The others are asked for again.
        rest.removeAll { begun.contains($0) }
      }
      open = open.filter { [5, 7, 16, 18, 35, 52, 55, 56, 92, 95].contains(answers[$0].failure) }
    }
    return answers
  }

  private func path(_ kind: String, _ number: Int) -> String { "\(folder)/\(kind)\(number)" }

  /// Runs `curl`, and fills in the answers.
  ///
  /// - Returns: the numbers of those that are decided. The others were cut short by an answer that is too large.
  private func run(_ requests: [(number: Int, request: LiveRequest)], _ answers: inout [LiveAnswer]) async throws(PackError) -> Set<Int> {
    let (configuration, results, complaints) = ("\(folder)/requests", "\(folder)/results", "\(folder)/errors")
    let text = requests.map { configured($0.request, $0.number) }.joined(separator: "next\n")
    try OutputFile.write(Array(text.utf8), to: configuration, files: files)
    var start = ProgramStart(Curl.words + ["--parallel", "--parallel-max", "\(Self.most)", "--config", configuration])
    for path in [results, complaints] { try? files.remove(path, .file, in: nil) }
    // Two files, so that no complaint is written into a line of results.
    let output = try writing(results, files.open(results, .create(mode: 0o600), in: nil))
    let errors = try writing(results, files.open(complaints, .create(mode: 0o600), in: nil))
    start.streams = [0: .nothing, 1: .descriptor(output.descriptor), 2: .descriptor(errors.descriptor)]
    start.hasOwnGroup = true
    let (process, number) = start.run()
    guard number == 0 else {
      throw PackError(
        .cannotRead, "'curl' could not be started: \(FileFailure(number: number).text)", hint: "install curl, which asks the server")
    }
    let size = requests.reduce(0 as UInt64) { $0.adding($1.request.limit) }
    let patience = Self.patience + requests.count / 2 + Int(clamping: size / Self.slowest)
    let deadline = ContinuousClock.now + .seconds(patience)
    var large: Int?
    do throws(PackError) {
      while !ProgramEnd.hasEnded(process), large == nil, ContinuousClock.now < deadline {
        try await LiveInspection.pause(.milliseconds(10))
        large = requests.first { isTooLarge($0.request, $0.number) }?.number
      }
    } catch {
      ProgramEnd.stopGroup(process, patience: .seconds(1))
      throw error
    }
    ProgramEnd.stopGroup(process, patience: .zero)
    let lines = String(decoding: try files.contents(of: results, limit: 64 << 20), as: UTF8.self).split(separator: "\n")
    let isOverdue = large == nil && ContinuousClock.now >= deadline
    guard large != nil || isOverdue || lines.contains(where: { CurlResult($0) != nil }) else {
      let said = try files.contents(of: complaints, limit: 1 << 20).split(separator: UInt8(ascii: "\n")).first
      throw PackError(
        .cannotRead, "'curl' sent no requests: \(said.map { printable($0) } ?? "it printed nothing")",
        hint: "'curl --version' must be 7.75 or newer")
    }
    let missing = isOverdue ? (28, "\(requests.count) answers took more than \(patience) seconds") : (-1, "no answer")
    for (number, request) in requests { answers[number] = LiveAnswer(url: request.url, failure: missing.0, failureText: missing.1) }
    var decided = Set(large == nil ? requests.map(\.number) : [])
    var last: Int?
    for line in lines {
      guard let result = CurlResult(line) else {
        // The first one is that of the server, the next ones are those of authorities.
        if let last, line.hasPrefix("Expire date:"), answers[last].certificateEnd == nil {
          answers[last].certificateEnd = String(line.dropFirst(12).drop { $0 == " " })
        }
        continue
      }
      guard answers.indices.contains(result.number), result.number != large else { continue }
      last = result.number
      decided.insert(result.number)
      try take(result, &answers[result.number], requests.first { $0.number == result.number }?.request)
    }
    if let large {
      let head = (try? files.contents(of: path("head", large), limit: 1 << 20)) ?? []
      (answers[large].failure, answers[large].failureText) = (LiveAnswer.tooLarge, "the answer has no end")
      (answers[large].status, answers[large].fields) = (CurlResult.status(head), CurlResult.fields(head))
      decided.insert(large)
    }
    for (number, _) in requests {
      for kind in ["head", "body"] { try? files.remove(path(kind, number), .file, in: nil) }
    }
    return decided
  }

  /// How long the first answer may take, in seconds: curl may wait a minute where the server asks for that. And the least bytes in a second.
  private static let (patience, slowest): (Int, UInt64) = (90, 100_000)
  /// The bytes of a body that are taken in any case: of an error or a redirect.
  private static let room: UInt64 = 64 << 10

  /// Whether an answer has become larger than it may be. Curl before 8.4 compares only the length that the server says.
  private func isTooLarge(_ request: LiveRequest, _ number: Int) -> Bool {
    func size(_ kind: String) -> UInt64 { (try? files.status(of: path(kind, number), in: nil, following: .asThemselves))?.size ?? 0 }
    return size("body") > max(request.limit, Self.room) || size("head") > 1 << 20
  }

  /// The exit statuses that are faults of this machine: certificates and engines.
  private static let local = [53, 54, 58, 59, 66, 77, 80, 82]

  private func take(_ result: CurlResult, _ answer: inout LiveAnswer, _ request: LiveRequest?) throws(PackError) {
    (answer.status, answer.failure, answer.failureText) = (result.status, result.failure, result.text)
    (answer.redirect, answer.received) = (result.redirect, result.received)
    guard !Self.local.contains(result.failure) else {
      throw PackError(
        .cannotRead, "'curl' cannot check certificates on this machine: \(printable(result.text.utf8))",
        hint: "install ca-certificates, or correct CURL_CA_BUNDLE and SSL_CERT_FILE")
    }
    let (head, body) = (path("head", result.number), path("body", result.number))
    if let bytes = try? files.contents(of: head, limit: 1 << 20) { answer.fields = CurlResult.fields(bytes) }
    guard answer.failure == 0, let request else { return }
    // There is no file of an empty body.
    answer.received = (try? files.status(of: body, in: nil, following: .asThemselves))?.size ?? 0
    guard answer.received <= request.limit else {
      // The server did not say the length before.
      answer.failure = LiveAnswer.tooLarge
      return
    }
    if answer.received == 0 {
      answer.bytes = []
    } else if request.keepsBytes {
      answer.bytes = try files.contents(of: body, limit: Int(clamping: request.limit))
    }
    let backend = CryptoBackends.standard
    answer.sha256 =
      if let bytes = answer.bytes { try backend.digest(of: bytes.byteSpan) } else {
        try FileDigest.run(body, in: nil, title: body, files: files, backend: backend).sha256
      }
  }

  /// Returns the lines of the configuration for one request.
  private func configured(_ request: LiveRequest, _ number: Int) -> String {
    func quoted(_ text: String) -> String {
      "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
    let address = try? LiveAddress(request.url)
    var options = [
      ("url", request.url), ("output", path("body", number)), ("dump-header", path("head", number)), ("user-agent", "packer"),
      ("proto", request.url.hasPrefix("http:") && address?.isLocal == true ? "=http" : "=https"),
      // The limit itself is checked later.
      ("max-filesize", "\(max(request.limit, Self.room))"),
      ("write-out", "\(number)\\t%{exitcode}\\t%{response_code}\\t%{size_download}\\t%{redirect_url}\\t%{errormsg}\\n%{certs}\\n"),
    ]
    // Curl waits as long as the server asks for, if it is within the time.
    options += Curl.limits + [("retry", "2"), ("retry-max-time", "60")]
    if address?.isLocal == true { options.append(("noproxy", "*")) }
    if let range = request.range { options.append(("range", "\(range.lowerBound)-\(range.upperBound)")) }
    if request.allowsEncoding { options.append(("header", "Accept-Encoding: gzip, deflate, br")) }
    options += request.fields.map { ("header", $0) }
    // Write-out has escapes of its own, which are not to be doubled.
    let lines = options.map { name, value in "\(name) = \(name == "write-out" ? "\"\(value)\"" : quoted(value))" }
    let flags = ["silent", "globoff", "path-as-is", "tlsv1.2"] + (request.isDecoded ? ["compressed"] : [])
    return (flags + lines).map { "\($0)\n" }.joined()
  }
}

/// The line that `curl` prints after a transfer.
struct CurlResult: Hashable {
  let number: Int
  let failure: Int
  let status: Int
  let received: UInt64
  let redirect: String?
  let text: String

  /// Returns nil for another line.
  init?(_ line: some StringProtocol) {
    let parts = line.split(separator: "\t", maxSplits: 5, omittingEmptySubsequences: false)
    guard parts.count == 6, let number = Int(parts[0]), let failure = Int(parts[1]), let status = Int(parts[2]),
      let received = UInt64(parts[3])
    else { return nil }
    (self.number, self.failure, self.status, self.received) = (number, failure, status, received)
    redirect = parts[4].isEmpty ? nil : String(parts[4])
    text = String(parts[5])
  }

  /// Returns the status of the last answer in a file that `curl` dumped; 0 if it has none.
  static func status(_ bytes: [UInt8]) -> Int {
    let lines = bytes.split(whereSeparator: { $0 == 10 || $0 == 13 }).filter { $0.starts(with: "HTTP/".utf8) }
    return lines.last.flatMap { Int(String(decoding: $0.drop { $0 != 32 }.dropFirst().prefix(3), as: UTF8.self)) } ?? 0
  }

  /// Returns the header fields of the last answer in a file that `curl` dumped, which may have those of a proxy or of earlier attempts before it.
  static func fields(_ bytes: [UInt8]) -> [String: String] {
    var fields: [String: String] = [:]
    for line in bytes.split(whereSeparator: { $0 == 10 || $0 == 13 }) {
      let text = String(decoding: line, as: UTF8.self)
      if text.hasPrefix("HTTP/") {
        fields = [:]
      } else if let colon = text.firstIndex(of: ":") {
        let name = text[..<colon].lowercased()
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        fields[name] = fields[name].map { "\($0), \(value)" } ?? String(value)
      }
    }
    return fields
  }
}
