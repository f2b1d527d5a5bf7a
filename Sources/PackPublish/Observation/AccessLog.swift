#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// An access log, which is read line by line, also if gzip compressed it. Needs less than 4 MiB of memory, however long the log and its lines are.
package struct AccessLog {
  /// What a log had besides requests.
  package struct Result: Hashable, Sendable {
    /// The lines, without empty ones and those that start with `#`.
    package var lines: UInt64 = 0
    /// Those that could not be read.
    package var damaged: UInt64 = 0
    /// The number of the first of them, from 1.
    package var firstDamaged: UInt64?

    /// Whether so many could not be read that the log is another file, or of a format that is not known.
    var isRefused: Bool { damaged == lines ? lines > 0 : damaged > AccessLog.mostDamaged && damaged > lines / 100 }
  }

  /// The name that stands for standard input.
  package static let standardInput = "-"
  /// The longest line that is read, in bytes. CloudFront allows 20 KB of header fields.
  static let longestLine = 256 << 10
  /// How many lines may be damaged in any log: those that a server was writing as it stopped. Of longer logs, one line in a hundred may.
  static let mostDamaged: UInt64 = 10

  private let path: String
  private let files: any FileSystem

  package init(_ path: String, files: any FileSystem = SystemFiles()) {
    (self.path, self.files) = (path, files)
  }

  /// The size of the file in bytes; 0 for standard input, and for what does not exist.
  package var size: UInt64 {
    path == Self.standardInput ? 0 : (try? files.status(of: path, in: nil, following: .followed).size) ?? 0
  }

  /// Calls `body` with the requests of the log, in their order.
  ///
  /// - Parameter read: called with the number of bytes that were read of the file, after each piece.
  /// - Throws: ``PackError/Code/unreadableLog`` if more lines than ``mostDamaged`` and one in a hundred cannot be read, or none can, and for gzip that is
  ///   damaged or cut; and the errors of reading.
  func forEachRequest(
    read: @escaping (UInt64) -> Void = { _ in }, _ body: (Span<UInt8>, LogRequest) -> Void
  ) throws(PackError) -> Result {
    let feed = try LogFeed(path, files, read: read)
    let result: Result
    do throws(PackError) {
      if try feed.isCompressed() {
        let reader = try GzipReader { (buffer) throws(PackError) in try feed.next(&buffer) }
        result = try Self.forEachRequest({ (buffer) throws(PackError) in try reader.read(into: &buffer) }, body)
      } else {
        result = try Self.forEachRequest({ (buffer) throws(PackError) in try feed.next(&buffer) }, body)
      }
    } catch {
      throw error.code == .damagedArchive ? PackError(.unreadableLog, of: feed.name, error.message, hint: "fetch the log again") : error
    }
    guard let line = result.firstDamaged, result.isRefused else { return result }
    throw PackError(
      .unreadableLog, of: feed.name,
      "is not an access log that packer reads: \(result.damaged) of \(Table.count(result.lines, "line", "lines")) cannot be read, the first is line \(line)",
      hint: "give a log in the format Combined or Common, of CloudFront or S3, or JSON lines of Cloudflare, Fastly or Caddy")
  }

  /// The same for a stream of bytes. `next` returns 0 at its end.
  static func forEachRequest(
    _ next: (inout MutableSpan<UInt8>) throws(PackError) -> Int, _ body: (Span<UInt8>, LogRequest) -> Void
  ) throws(PackError) -> Result {
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var result = Result()
    var lines = LineParser()
    /// The end of what is in the buffer. What is before it begins a line, or the rest of one that is passed over.
    var end = 0
    var isSkipping = false
    while true {
      try Task.checkpoint()
      let count: Int
      do {
        var whole = buffer.mutableByteSpan
        var target = whole._mutatingExtracting(last: whole.count - end)
        count = try next(&target)
      }
      if count == 0 { break }
      let held = end
      end += count
      var start = 0
      var searched = held
      while let feed = Self.lineFeed(buffer.byteSpan, from: searched, to: end) {
        if isSkipping {
          isSkipping = false
        } else {
          lines.parse(buffer.byteSpan.extracting(start..<feed), &result, body)
        }
        (start, searched) = (feed + 1, feed + 1)
      }
      if isSkipping { start = end }
      // Passed over from here on, so that no line needs more than the buffer.
      if end - start > longestLine {
        result.note(isDamaged: true, lines.number + 1)
        lines.pass()
        (isSkipping, start) = (true, end)
      }
      let rest = end - start
      if start > 0, rest > 0 { for index in 0..<rest { buffer[index] = buffer[start + index] } }
      end = rest
    }
    // The last line may have no line feed.
    if end > 0, !isSkipping { lines.parse(buffer.byteSpan.extracting(first: end), &result, body) }
    return result
  }

  private static func lineFeed(_ bytes: Span<UInt8>, from start: Int, to end: Int) -> Int? {
    guard start < end else { return nil }
    return unsafe bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress, let found = unsafe memchr(base + start, 0x0A, end - start) else { return nil }
      return unsafe UnsafeRawPointer(found) - base
    }
  }
}

extension AccessLog.Result {
  fileprivate mutating func note(isDamaged: Bool, _ number: UInt64) {
    lines += 1
    guard isDamaged else { return }
    damaged += 1
    if firstDamaged == nil { firstDamaged = number }
  }
}

/// Reads lines by what they start with, so that logs may be joined.
private struct LineParser {
  private var columns: LogColumns?
  /// The number of lines so far.
  private(set) var number: UInt64 = 0

  /// Counts a line that is passed over.
  mutating func pass() { number += 1 }

  mutating func parse(_ whole: Span<UInt8>, _ result: inout AccessLog.Result, _ body: (Span<UInt8>, LogRequest) -> Void) {
    number += 1
    var line = whole
    if line.count > 0, line[line.count - 1] == 0x0D { line = line.extracting(first: line.count - 1) }
    guard line.count > 0 else { return }
    if line[0] == UInt8(ascii: "#") {
      if let named = LogColumns(line) { columns = named }
      return
    }
    guard line.count <= AccessLog.longestLine, let request = request(line) else { return result.note(isDamaged: true, number) }
    result.note(isDamaged: false, number)
    body(line, request)
  }

  private func request(_ line: Span<UInt8>) -> LogRequest? {
    if line[0] == UInt8(ascii: "{") { return ObjectLine.request(line) }
    if let columns { return columns.request(line) }
    return BracketLine.request(line)
  }
}

/// The bytes of a log's file, or of standard input.
private final class LogFeed {
  let name: String
  private let file: OpenFile
  private let files: any FileSystem
  private let isStream: Bool
  private let note: (UInt64) -> Void
  private var offset: UInt64 = 0
  /// What was read to see the format.
  private var start: [UInt8]?

  init(_ path: String, _ files: any FileSystem, read: @escaping (UInt64) -> Void) throws(PackError) {
    isStream = path == AccessLog.standardInput
    name = isStream ? "standard input" : path
    file = isStream ? OpenFile(borrowing: 0) : try Self.open(path, files)
    (self.files, note) = (files, read)
  }

  private static func open(_ path: String, _ files: any FileSystem) throws(PackError) -> OpenFile {
    do throws(PackError) {
      return try files.openFile(path).file
    } catch {
      guard error.code == .cannotRead, error.advice != nil else { throw error }
      throw error.advising(.developer("packer observe - < \(ShellWord.path(path))"))
    }
  }

  /// Whether the log starts as what gzip writes does.
  func isCompressed() throws(PackError) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 2)
    var count = 0
    while count < 2 {
      var whole = bytes.mutableByteSpan
      var target = whole._mutatingExtracting(last: 2 - count)
      let more = try piece(&target)
      if more == 0 { break }
      count += more
    }
    start = Array(bytes.prefix(count))
    return bytes == [0x1F, 0x8B]
  }

  /// Reads the next bytes, and returns their number: 0 at the end.
  func next(_ buffer: inout MutableSpan<UInt8>) throws(PackError) -> Int {
    if let known = start {
      start = nil
      if !known.isEmpty {
        copy(known.byteSpan, to: &buffer)
        return known.count
      }
    }
    return try piece(&buffer)
  }

  private func piece(_ buffer: inout MutableSpan<UInt8>) throws(PackError) -> Int {
    let count: Int
    if isStream {
      do throws(FileFailure) {
        count = try unsafe buffer.withUnsafeMutableBytes { (bytes) throws(FileFailure) in try unsafe files.read(file, into: bytes) }
      } catch {
        throw error.reading(name)
      }
    } else {
      count = try files.read(file, at: offset, filling: &buffer, name: name)
    }
    offset += UInt64(count)
    note(UInt64(count))
    return count
  }
}

extension PackError.Code {
  /// A file is no access log in a format that is known, or what gzip wrote of it is damaged.
  package static let unreadableLog = Self(rawValue: "unreadable-log")
}
