import Foundation
import TestSupport
import Testing

@Suite("Downloads in a process that is killed", .serialized, .bounded)
struct DownloadServerTests {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// The program is in the same directory as the test bundle.
  private static let runner: URL = {
    #if os(Linux)
      let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
      return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("download-runner")
    #else
      return Bundle(for: NginxServer.self).bundleURL.deletingLastPathComponent().appendingPathComponent("download-runner")
    #endif
  }()

  private func start(_ arguments: [String]) throws -> ChildProcess {
    try ChildProcess(Self.runner.path, arguments, output: directory("output"), errors: nil)
  }

  /// What the last process has printed.
  private var said: String { String(decoding: directory.bytes(of: "output") ?? [], as: UTF8.self) }

  @Test(
    "killed ten times, with a server that fails one request in ten, it gets every file correctly and none twice",
    .enabled(if: NginxServer.program != nil, "nginx is not installed"))
  func killed() async throws {
    let (count, most) = Effort.number(quick: (300, 8), full: (5000, 200))
    var random = SeededGenerator()
    let server = try NginxServer(in: directory, failing: 10, bytesPerSecond: 30_000)
    var total = 0
    for number in 0..<count {
      let content = NumberedFile(number).content
      total += content.count
      try directory.write(content, to: "www/file-\(number)")
    }
    try directory.write((0..<count).map { NumberedFile($0).listing }.joined(separator: "\n").utf8, to: "list")
    try directory.write([], to: "finished")

    var peak = 0
    var kills = 0
    for run in 0..<100 {
      let process = try start([
        "fetch", directory("downloads"), server.url, directory("list"), directory("finished"), "run-\(run)",
      ])
      if kills < 10 {
        peak = max(peak, try await kill(process, after: Int.random(in: 1...most, using: &random)))
        let status = process.wait()
        if status == 128 + SIGKILL { kills += 1 }
        guard status < 128 else { continue }
      }
      #expect(process.wait() == 0)
      break
    }
    #expect(kills == 10)
    #expect(said.hasPrefix("finished \(count) of \(count), peak "), "\(said)")
    peak = max(peak, said.split(whereSeparator: { !$0.isNumber }).last.flatMap { Int($0) } ?? 0)

    try checkFiles(count)
    try checkLog(try server.log(), count: count, total: total, peak: peak)
  }

  /// Kills a process once it has finished `count` files and is downloading others, on its own thread so that tasks do not delay it.
  ///
  /// - Returns: its peak memory, in kilobytes.
  private func kill(_ process: ChildProcess, after count: Int) async throws -> Int {
    let wanted = try lineCount("finished") + count
    return try await WorkerPool.value { (_) throws(PackError) in
      while process.isRunning {
        if ((try? lineCount("finished")) ?? 0) >= wanted, hasParts { break }
        usleep(2000)
      }
      // A process that has ended on its own is gone.
      let peak = (try? ProcessMemory.kilobytes("VmHWM", of: "\(process.number)")) ?? 0
      process.send(SIGKILL)
      return peak
    }
  }

  private func lineCount(_ name: String) throws -> Int {
    try #require(directory.bytes(of: name)).count { $0 == UInt8(ascii: "\n") }
  }

  /// Whether a part of a file exists.
  private var hasParts: Bool {
    ((try? directory.tree("downloads")) ?? []).contains { path in
      guard path.hasSuffix(".part") else { return false }
      let attributes = try? FileManager.default.attributesOfItem(atPath: directory("downloads/\(path)"))
      return (attributes?[.size] as? NSNumber)?.intValue ?? 0 > 0
    }
  }

  private func checkFiles(_ count: Int) throws {
    let paths = try directory.tree("downloads").filter { $0.hasPrefix("done/") }
    #expect(paths.count == count)
    #expect(try directory.tree("downloads").filter { $0.hasSuffix(".part") || $0.hasSuffix(".tag") }.isEmpty)
    var wanted = Set((0..<count).map { NumberedFile.digest(NumberedFile($0).content) })
    for path in paths {
      let content = try #require(directory.bytes(of: "downloads/\(path)"))
      #expect(wanted.remove(NumberedFile.digest(content)) != nil, "\(path) is not one of the files")
    }
    #expect(wanted.isEmpty)
  }

  private func checkLog(_ log: [NginxServer.Entry], count: Int, total: Int, peak: Int) throws {
    // No file was requested after it was reported as finished.
    var finished: [String: Double] = [:]
    let lines = String(decoding: directory.bytes(of: "finished") ?? [], as: UTF8.self).split(separator: "\n")
    for line in lines {
      let words = line.split(separator: " ")
      guard words.count == 2, let time = Double(words[0]) else { continue }
      let path = "/\(words[1])"
      #expect(finished[path] == nil, "\(path) finished twice")
      finished[path] = time
    }
    // Files that finished between the last event and a kill are missing here, at most as many as were running then.
    #expect(finished.count > count - 10 * 40)
    let late = log.filter { entry in finished[entry.path].map { Double(entry.start) > $0 * 1000 + 2 } ?? false }
    #expect(late.isEmpty, "\(late.map { "\($0.path) \($0.start)" }) requested again")

    let failed = log.filter { $0.status == 503 }.count
    // One in ten, by chance.
    #expect(failed > log.count / 50)

    // The largest number of concurrent requests in each process.
    var largest = 0
    for (_, entries) in Dictionary(grouping: log, by: \.client) {
      // The log has a resolution of milliseconds. At equal times, ends come first.
      let events = entries.flatMap { [($0.start, 1), ($0.end, -1)] }.sorted { $0 < $1 }
      var running = 0
      for (_, change) in events {
        running += change
        largest = max(largest, running)
      }
    }
    #expect(largest >= 15)
    #expect(largest <= 20)
    // The requests that a kill interrupted.
    let resumed = log.filter { $0.status == 206 }.count
    #expect(resumed > 0)
    let sent = log.reduce(0) { $0 + $1.size }
    #expect(sent < total * 3 / 2 + 10 * 20 * 70_000)
    print(
      """
      \(count) files of \(total) bytes in all, 10 kills: \(log.count) requests, \(failed) of them failed, \(resumed) resumed, \
      \(sent) bytes sent, up to \(largest) at a time, peak memory \(peak) kB
      """)
  }

  @Test(
    "killed while a pack arrives that is read meanwhile, it goes on from what it had noted, and the file is right in the end",
    .enabled(if: NginxServer.program != nil, "nginx is not installed"))
  func killedArriving() async throws {
    let (wanted, segments) = (Effort.number(quick: 6, full: 200), 64)
    var random = SeededGenerator()
    let server = try NginxServer(in: directory, bytesPerSecond: 600_000)
    let sample = LeadSample(segments: segments)
    try directory.write(sample.content, to: "www/\(LeadSample.name)")
    try directory.write(sample.lead, to: "www/\(sample.leadName)")
    var (kills, files) = (0, 0)
    while kills < wanted || files == 0 {
      let process = try start(["play", directory("play"), server.url, "\(segments)"])
      if kills < wanted {
        try await Task.sleep(for: .milliseconds(Int.random(in: 100...900, using: &random)))
        process.send(SIGKILL)
      }
      let status = process.wait()
      kills += status == 128 + SIGKILL ? 1 : 0
      guard status != 128 + SIGKILL else { continue }
      #expect(status == 0, "\(said)")
      files += 1
      #expect(directory.bytes(of: "play/done") == sample.content)
      #expect(try directory.tree("play").filter { $0.hasPrefix("parts/movie") }.isEmpty)
      try FileManager.default.removeItem(atPath: directory("play"))
    }
    let sent = try server.log().filter { $0.path.hasSuffix(LeadSample.name) }.reduce(0) { $0 + $1.size }
    let again = sent - files * sample.content.count
    print("\(kills) kills, \(files) files of \(sample.content.count) bytes: \(again) bytes again, \(again / kills) a kill")
    // What was being noted, as much that waited for that, two pieces that were on their way, and what the system had of them.
    #expect(again <= kills * (2 * (256 << 10) + 4 * (128 << 10)))
  }

  #if os(Linux)
    @Test(
      "a download that is faster than the disk stays within a few pieces of memory",
      .enabled(if: NginxServer.program != nil, "nginx is not installed"),
      .enabled(if: ProcessMemory.isMeasurable, "a sanitizer uses extra memory"))
    func slowDisk() throws {
      let server = try NginxServer(in: directory)
      var generator = SeededGenerator(seed: 5)
      let piece = generator.bytes(1 << 20)
      var content: [UInt8] = []
      for _ in 0..<48 { content += piece }
      try directory.write(content, to: "www/large")
      try directory.write(content.prefix(100_000), to: "www/small")
      let digests = [content, Array(content.prefix(100_000))].map { NumberedFile.digest($0).map { String($0) }.joined(separator: ".") }
      let process = try start(["slow", directory("slow"), server.url, "\(content.count)", digests[0], "100000", digests[1]])
      #expect(process.wait() == 0)
      let peak = try #require(said.split(whereSeparator: { !$0.isNumber }).last.flatMap { Int($0) }, "\(said)")
      // A few pieces of 1 MiB, and the memory of the system's client.
      #expect(peak * 1024 < 12_000_000, "\(said)")
      print(said, terminator: "")
    }
  #endif
}
