import PackBuild
import PackFiles
package import PackFormat
import PackManifest
import PackProject

/// A remote of rclone, as `name:path` or `:backend,options:path`.
///
/// rclone finds its configuration and secrets itself: in its file, or in variables.
package struct RclonePlace: PublishingPlace {
  package let title: String
  /// Whether rclone prints how far it is, on standard error.
  private let showsProgress: Bool

  package init(_ remote: String, showsProgress: Bool = false) { (title, self.showsProgress) = (remote, showsProgress) }

  /// The statuses with which rclone ends if a folder does not exist, and if files differ.
  private static let (missing, differing): (CInt, CInt) = (3, 1)
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
  private func run(
    _ words: [String], allowing statuses: [CInt] = [], limit: Int = largestAnswer, logs: Bool = false
  ) throws(PackError) -> [UInt8] {
    let files = SystemFiles()
    let log = temporaryPath("log")
    defer { try? files.remove(log, .file, in: nil) }
    do throws(PackError) {
      return try ProgramOutput.read(
        ["rclone"] + (logs ? [] : ["--log-file", log]) + words, limit: limit, files: files, allowing: statuses)
    } catch {
      let lines = (try? files.contents(of: log, limit: 1 << 20))?.split(separator: UInt8(ascii: "\n")) ?? []
      // Without the time in front.
      let said = lines.last.map { ": " + printable($0.dropFirst(20).prefix(400)) } ?? ""
      throw PackError(
        error.code, of: title, "rclone \(words[0]) failed\(said.isEmpty ? ": \(error.message)" : said)",
        hint: "'rclone lsf \(ShellWord.quoted(title))' must work; to install it on Debian: apt-get install rclone")
    }
  }

  private func temporaryPath(_ kind: String) -> String {
    "\(ProcessEnvironment.text(of: "TMPDIR") ?? "/tmp")/packer-\(kind)-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
  }

  package func sizes() throws(PackError) -> [String: UInt64] {
    let answer = try run(["lsf", "--files-only", "--format", "sp", "--separator", "\t", "--", title], allowing: [Self.missing])
    var sizes: [String: UInt64] = [:]
    for line in answer.split(separator: UInt8(ascii: "\n")) {
      let parts = line.split(separator: UInt8(ascii: "\t"), maxSplits: 1)
      guard parts.count == 2, let size = UInt64(String(decoding: parts[0], as: UTF8.self)) else { continue }
      sizes[String(decoding: parts[1], as: UTF8.self)] = size
    }
    return sizes
  }

  package func contents(of name: String, limit: Int) throws(PackError) -> [UInt8]? {
    guard try sizes()[name] != nil else { return nil }
    let bytes = try run(["cat", "--", path(name)], limit: limit)
    guard bytes.count <= limit else { throw PackError(.limitExceeded, of: path(name), "has more than \(limit) bytes") }
    return bytes
  }

  package func add(_ names: [String], from directory: String) throws(PackError) {
    // Nothing is asked about files that are not there, or that are replaced.
    var words = ["copy", "--no-check-dest", "--no-traverse", "--header-upload", "Cache-Control: public, max-age=31536000, immutable"]
    if showsProgress { words += ["--stats", "2s", "--stats-one-line", "--stats-log-level", "NOTICE"] }
    try withList(of: names) { (list) throws(PackError) in
      _ = try run(words + ["--files-from-raw", list, "--", directory, title], logs: showsProgress)
    }
  }

  package func different(_ names: [String], from directory: String) throws(PackError) -> [String] {
    try withList(of: names) { (list) throws(PackError) in
      var words = ["check", "--one-way", "--combined", "-", "--files-from-raw", list]
      if try !hasDigests() { words.append("--download") }
      let answer = try run(words + ["--", directory, title], allowing: [Self.differing])
      let same = Set(
        answer.split(separator: UInt8(ascii: "\n")).filter { $0.starts(with: "= ".utf8) }
          .map { String(decoding: $0.dropFirst(2), as: UTF8.self) })
      return names.filter { !same.contains($0) }
    }
  }

  package func hasDigests() throws(PackError) -> Bool {
    let answer = String(decoding: try run(["backend", "features", "--", title]), as: UTF8.self)
    guard let start = answer.firstRange(of: "\"Hashes\":")?.upperBound else { return false }
    return answer[start...].drop(while: \.isWhitespace).dropFirst().drop(while: \.isWhitespace).first == "\""
  }

  package func replaceManifest(with path: String, known: [UInt8]?) throws(PackError) {
    let name = ReleaseFile.manifest
    guard try contents(of: name, limit: Manifest.largestSize) == known else {
      throw conflict("has another manifest than before: another publisher is at work")
    }
    _ = try run(["copyto", "--ignore-times", "--header-upload", "Cache-Control: public, max-age=60", "--", path, self.path(name)])
  }

  /// Lends a file with names, one in each line.
  private func withList<Result>(of names: [String], _ body: (String) throws(PackError) -> Result) throws(PackError) -> Result {
    let files = SystemFiles()
    let path = temporaryPath("names")
    try OutputFile.write(Array((names.joined(separator: "\n") + "\n").utf8), to: path, files: files)
    defer { try? files.remove(path, .file, in: nil) }
    return try body(path)
  }
}
