/// A remote of rclone, as `name:path` or `:backend,options:path`.
///
/// rclone finds its configuration and secrets itself: in its file, or in variables.
package struct RclonePlace: PublishingPlace {
  package let title: String
  /// Whether rclone prints how far it is, on standard error.
  private let showsProgress: Bool

  /// The limits of a remote that need not be reached.
  private let haste: [String]
  /// The limits of requests whose answers are small. Some of them come first, and a service that does not answer is noticed in seconds.
  private static let brief = ["--low-level-retries", "4", "--contimeout", "15s", "--timeout", "15s"]

  package init(_ remote: String, showsProgress: Bool = false, isPatient: Bool = true) {
    (title, self.showsProgress) = (remote, showsProgress)
    haste = isPatient ? [] : ["--retries", "1", "--low-level-retries", "2", "--contimeout", "10s", "--timeout", "15s"]
  }

  /// The statuses with which rclone ends if a folder or a file does not exist, and if files differ.
  private static let (missing, missingFile, differing): (CInt, CInt, CInt) = (3, 4, 1)
  /// The status with which it ends if more bytes would be copied than it may.
  private static let bounded: CInt = 8
  /// The largest answer that is read: a list of a million names.
  private static let largestAnswer = 256 << 20

  private func path(_ name: String) -> String {
    title.hasSuffix(":") || title.hasSuffix("/") ? title + name : "\(title)/\(name)"
  }

  /// Runs rclone. What it logs is shown only if it fails, because it also logs what is no fault, such as a folder that does not exist yet.
  ///
  /// - Parameters:
  ///   - statuses: the statuses besides 0 with which it may end.
  ///   - logs: whether it logs on standard error instead.
  ///   - isComplete: whether an answer says everything that was asked. Otherwise rclone failed.
  private func run(
    _ words: [String], allowing statuses: [CInt] = [], limit: Int = largestAnswer, logs: Bool = false,
    checking isComplete: ([UInt8]) -> Bool = { _ in true }
  ) throws(PackError) -> [UInt8] {
    try Task.checkpoint()
    let files = SystemFiles()
    let scratch = try ScratchFolder()
    defer { withExtendedLifetime(scratch) {} }
    let log = "\(scratch.path)/log"
    let failure: PackError?
    do throws(PackError) {
      let answer = try Rclone.run((logs ? [] : ["--log-file", log]) + haste + words, limit: limit, files: files, allowing: statuses)
      if isComplete(answer) { return answer }
      failure = nil
    } catch {
      guard error.code != .cancelled else { throw error }
      failure = error
    }
    let said = Self.reason(in: (try? files.contents(of: log, limit: 1 << 20)) ?? []) ?? failure?.message
    func has(_ texts: [String]) -> Bool { texts.contains { said?.contains($0) == true } }
    let test = "'rclone lsf \(ShellWord.quoted(title))' must work"
    let message = "rclone \(words[0]) failed: \(said ?? "it gave no reason")"
    guard !has(Self.silence) else {
      throw PackError(
        .serverUnreachable, of: title, message, hint: "check the network of this machine, and the address of the remote: \(test)")
    }
    throw PackError(
      has(Self.unmet) ? .releaseConflict : .cannotRead, of: title, message,
      hint: Rclone.isMissing ? "install rclone; on Debian: apt-get install rclone" : test)
  }

  /// What rclone says if a service does not answer.
  private static let silence = ["dial tcp", "i/o timeout", "no such host", "TLS handshake timeout", "timeout awaiting response"]

  /// The answers of S3 if another manifest is there than the condition says.
  private static let unmet = ["PreconditionFailed", atWork, "NoSuchKey"]
  private static let atWork = "ConditionalRequestConflict"

  private static let level = "ERROR : "

  /// Returns the last message in a log, which may have several lines. The first has a time in front.
  static func reason(in log: [UInt8]) -> String? {
    let lines = log.split(separator: UInt8(ascii: "\n"))
    guard let start = lines.lastIndex(where: { $0.first.map { (0x30...0x39).contains($0) } == true && $0.count > 20 }) else { return nil }
    let message = printable(lines[start].dropFirst(20).prefix(400))
    let causes = lines[(start + 1)...].filter { $0.starts(with: "caused by: ".utf8) }.map { ", " + printable($0.prefix(400)) }
    return (message.hasPrefix(level) ? String(message.dropFirst(level.count)) : message) + causes.joined()
  }

  package func sizes() throws(PackError) -> [String: UInt64] {
    let answer = try run(
      ["lsf"] + Self.brief + ["--files-only", "--format", "sp", "--separator", "\t", "--", title], allowing: [Self.missing])
    return try FileListing.sizes(answer, refusing: false)
  }

  package func contents(of name: String, limit: Int) throws(PackError) -> [UInt8]? {
    // Where there are no folders, rclone prints nothing for a file that is not there.
    let bytes = try run(["cat"] + Self.brief + ["--", path(name)], allowing: [Self.missing, Self.missingFile], limit: limit)
    guard bytes.count <= limit else { throw PackError(.limitExceeded, of: path(name), "has more than \(limit) bytes") }
    return bytes.isEmpty ? nil : bytes
  }

  package func bring(_ wanted: [(name: String, limit: UInt64)], to directory: String) throws(PackError) -> Brought {
    let limit = wanted.reduce(0 as UInt64) { $0.adding($1.limit) }
    // Several files at once may count a little more than they have.
    let bound = limit == UInt64.max ? [] : ["--max-transfer", "\(limit.adding(64 << 20))B", "--cutoff-mode", "hard"]
    try withList(of: wanted.map(\.name)) { (list) throws(PackError) in
      // Each file is asked for, because a list of all could be long.
      let words = ["copy", "--no-traverse", "--no-check-dest", "--files-from-raw", list] + bound
      _ = try run(words + ["--", title, directory], allowing: [Self.missing, Self.bounded])
    }
    return Brought()
  }

  package func add(_ names: [String], from directory: String) throws(PackError) {
    // Nothing is asked about files that are not there, or that are replaced. They are compared later.
    var words = ["copy", "--no-check-dest", "--no-traverse", "--s3-no-head", "--s3-no-check-bucket", "--header-upload", Self.forEver]
    if showsProgress { words += ["--stats", "2s", "--stats-one-line", "--stats-log-level", "NOTICE"] }
    try withList(of: names) { (list) throws(PackError) in
      _ = try run(words + ["--files-from-raw", list, "--", directory, title], logs: showsProgress)
    }
  }

  package func add(_ path: String, as name: String) throws(PackError) {
    _ = try run(["copyto", "--ignore-times", "--s3-no-check-bucket", "--header-upload", Self.forEver, "--", path, self.path(name)])
  }

  private static let forEver = "Cache-Control: public, max-age=31536000, immutable"

  package func different(_ files: [ReleaseFiles.File], from directory: String) throws(PackError) -> [ReleaseFiles.File] {
    try withList(of: files.map(\.name)) { (list) throws(PackError) in
      var words = ["check", "--one-way", "--combined", "-", "--files-from-raw", list]
      if try !hasDigests() { words.append("--download") }
      func names(_ signs: String, in answer: [UInt8]) -> Set<String> {
        let lines = answer.split(separator: UInt8(ascii: "\n")).filter { line in line.first.map { signs.utf8.contains($0) } ?? false }
        return Set(lines.map { String(decoding: $0.dropFirst(2), as: UTF8.self) })
      }
      // It ends with the same status if it could not read a file. Such a file has another sign, or no line.
      let answer = try run(words + ["--", directory, title], allowing: [Self.differing]) { answer in
        names("=*+", in: answer).isSuperset(of: files.map(\.name))
      }
      let same = names("=", in: answer)
      return files.filter { !same.contains($0.name) }
    }
  }

  package func hasDigests() throws(PackError) -> Bool {
    let answer = try features()
    guard let start = answer.firstRange(of: "\"Hashes\":")?.upperBound else { return false }
    return answer[start...].drop(while: \.isWhitespace).dropFirst().drop(while: \.isWhitespace).first == "\""
  }

  private func features() throws(PackError) -> String { String(decoding: try run(["backend", "features", "--", title]), as: UTF8.self) }

  package func replaceManifest(with path: String, known: [UInt8]?) throws(PackError) {
    func isKnown() throws(PackError) -> Bool { try contents(of: ReleaseFile.manifest, limit: Manifest.largestSize) == known }
    guard try isKnown() else { throw conflict("has another manifest than before: another publisher is at work") }
    let features = try features()
    if features.contains("\"String\": \"S3 ") {
      do throws(PackError) {
        return try write(path, if: try condition(known))
      } catch {
        // A write whose answer was lost was sent again, and fails: the caller reads the manifest back. If nothing changed, its tag is no MD5 there.
        // While another write is under way, nothing may have changed yet.
        guard error.code == .releaseConflict, !error.message.contains(Self.atWork), try isKnown() else {
          guard error.code == .releaseConflict else { throw error }
          let new = try SystemFiles().contents(of: path, limit: Manifest.largestSize)
          if try contents(of: ReleaseFile.manifest, limit: Manifest.largestSize) == new { return }
          throw conflict("got another manifest at the same time: another publisher is at work")
        }
      }
    }
    guard features.contains("\"Move\": true"), !features.contains("\"DuplicateFiles\": true") else { return try write(path) }
    // Where a file can be renamed, it is often written in place: an upload that is cut would leave no manifest. Another publisher has another name.
    // Each publisher writes its own before it looks for others, so of two at least one sees the other. An old one is of a publisher that was killed;
    // without it, one that only waited cannot rename any more.
    let name = "\(Self.newManifest)\(try ManifestTime.now().secondsSince1970)-\(String(UInt64.random(in: 0 ... .max), radix: 36)).json"
    let new = self.path(name)
    var isWritten = false
    do throws(PackError) {
      _ = try run(["copyto", "--ignore-times", "--", path, new])
      isWritten = true
      let others = try sizes().keys.filter { $0 != name }.compactMap { other in Self.time(of: other).map { (name: other, time: $0) } }
      if let other = others.first(where: { Self.isFresh($0.time) })?.name {
        throw PackError(
          .releaseConflict, of: title, "has \(other): another publisher is at work, or was killed in the last minute",
          hint: "see that one pipeline publishes at a time, then run it again")
      }
      try remove(others.map(\.name))
      guard try isKnown() else { throw conflict("got another manifest at the same time: another publisher is at work") }
      // Over the earlier one, without looking at that.
      _ = try run(["moveto", "--no-check-dest", "--ignore-times", "--", new, self.path(ReleaseFile.manifest)])
    } catch {
      guard error.code != .cancelled, error.code != .releaseConflict else {
        Rclone.tidy(["deletefile", "--", new])
        throw error
      }
      // If the answer to a rename is lost, rclone renames again, and finds nothing.
      if let bytes = try? SystemFiles().contents(of: path, limit: Manifest.largestSize),
        (try? contents(of: ReleaseFile.manifest, limit: Manifest.largestSize)) == bytes
      {
        return
      }
      // Ours was removed by another publisher, and not renamed by an answer that was lost: then the manifest would be another one.
      if isWritten, let there = try? sizes(), there[name] == nil, (try? isKnown()) == true {
        throw conflict("has another publisher at work, which did not wait")
      }
      Rclone.tidy(["deletefile", "--", new])
      throw error
    }
  }

  private static let newManifest = "manifest-new-"

  /// Returns when a publisher uploaded a manifest of this name, in seconds since 1970; nil for other names.
  private static func time(of name: String) -> Int64? {
    guard name.hasPrefix(newManifest), name.contains(".json") else { return nil }
    return Int64(name.dropFirst(newManifest.count).prefix { $0 != "-" })
  }

  /// Whether a manifest of this time may still be renamed, which takes seconds.
  private static func isFresh(_ time: Int64) -> Bool { ((try? ManifestTime.now().secondsSince1970) ?? 0) - time < 60 }

  /// Returns the condition that the manifest is still the one that was there, as a header. Its tag is its MD5 unless the service encrypts with keys of
  /// the customer.
  private func condition(_ known: [UInt8]?) throws(PackError) -> String {
    guard let known else { return "If-None-Match: *" }
    let answer = try ScratchFolder.withFile(holding: known) { (copy) throws(PackError) in
      String(decoding: try run(["md5sum", "--", copy]), as: UTF8.self)
    }
    return "If-Match: \"\(answer.prefix { $0 != " " })\""
  }

  /// - Parameter condition: a header that only S3 knows.
  private func write(_ path: String, if condition: String? = nil) throws(PackError) {
    // Not read back: if another publisher's is there by then, rclone would take it for a damaged upload, and remove it.
    var words = ["copyto", "--ignore-times", "--s3-no-head", "--header-upload", "Cache-Control: public, max-age=60"]
    // A single request, because the header is sent with each. It is not repeated if the condition is not met.
    if let condition { words += ["--no-check-dest", "--s3-no-check-bucket", "--retries", "1", "--header", condition] }
    _ = try run(words + ["--", path, self.path(ReleaseFile.manifest)])
  }

  package func remove(_ names: [String]) throws(PackError) {
    guard !names.isEmpty else { return }
    try withList(of: names) { (list) throws(PackError) in
      // Only files in the list are looked at.
      _ = try run(["delete", "--files-from-raw", list, "--", title])
    }
  }

  /// Lends a file with names, one in each line.
  private func withList<Result>(of names: [String], _ body: (String) throws(PackError) -> Result) throws(PackError) -> Result {
    try ScratchFolder.withFile(holding: Array((names.joined(separator: "\n") + "\n").utf8), body)
  }
}
