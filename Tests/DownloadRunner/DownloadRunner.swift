import Foundation
import TestSupport

/// A process that downloads, for tests that kill it or measure its memory.
///
///     download-runner fetch ROOT URL LIST BATCH LOG NAME    downloads the files in LIST; appends the ids of finished files to LOG, with the time
///     download-runner slow ROOT URL SIZE SHA SIZE SHA       measures the memory for a large file, after a small one, on a slow disk
///     download-runner measure ROOT COUNT                    measures the memory for COUNT requests, new ones or those found in ROOT
@main
struct DownloadRunner {
  static func main() async throws {
    var arguments = CommandLine.arguments.dropFirst()
    func next() -> String {
      guard let word = arguments.popFirst() else { fatalError("an argument is missing") }
      return word
    }
    switch next() {
    case "fetch":
      try await fetch(root: next(), url: next(), list: next(), batchSize: Int(next())!, log: next(), name: next())
    case "measure":
      try await measure(root: next(), count: Int(next())!)
    case "slow":
      try await slow(root: next(), url: next(), large: (Int(next())!, next()), small: (Int(next())!, next()))
    case let word:
      fatalError("there is no command '\(word)'")
    }
  }

  private static func fetch(root: String, url: String, list: String, batchSize: Int, log: String, name: String) async throws {
    var options = URLSessionTransport.Options()
    options.idleTimeoutSeconds = 300
    options.headers = ["User-Agent": name]
    var policy = QueuePolicy()
    policy.batchSize = batchSize
    policy.retry.first = .milliseconds(50)
    policy.retry.attempts = 12
    let queue = try await DownloadQueue(root: root, transport: URLSessionTransport(options: options), policy: policy)
    let finished = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
    let stream = queue.events()
    let listener = Task {
      for await event in stream {
        guard case .finished(let id, _) = event else { continue }
        try finished.seekToEnd()
        try finished.write(contentsOf: Data("\(Date().timeIntervalSince1970) \(id.id)\n".utf8))
      }
    }
    let lines = try String(contentsOfFile: list, encoding: .utf8).split(separator: "\n")
    try await queue.submit(lines.lazy.compactMap { NumberedFile.request(listed: $0, from: url) }, group: "files")
    try await queue.run(until: .idle)
    // Events that are still in the stream are delivered.
    listener.cancel()
    try await listener.value
    let status = try await queue.status(ofGroup: "files")
    print("finished \(status.finished) of \(status.count), peak \(try ProcessMemory.kilobytes("VmHWM")) kB")
  }

  private static func slow(root: String, url: String, large: (size: Int, digest: String), small: (size: Int, digest: String)) async throws {
    var options = URLSessionTransport.Options()
    options.idleTimeoutSeconds = 300
    options.largestPiece = 1 << 20
    // A disk that writes 16 KiB in 300 microseconds: about 50 MB per second.
    let files = FaultyFiles { call in
      if call.operation == .write { usleep(300) }
      return nil
    }
    let queue = try await DownloadQueue(root: root, transport: URLSessionTransport(options: options), files: files)
    func fetch(_ name: String, _ file: (size: Int, digest: String)) async throws {
      let digest = file.digest.split(separator: ".").compactMap { UInt8($0) }
      try await queue.submit([DownloadRequest(id: name, url: "\(url)/\(name)", size: UInt64(file.size), sha256: digest)], group: "files")
      try await queue.run(until: .idle)
      guard try await queue.file(of: DownloadID(group: "files", id: name)) != nil else { fatalError("\(name) did not arrive") }
    }
    try await fetch("small", small)
    ProcessMemory.giveBack()
    let start = try ProcessMemory.kilobytes("VmRSS")
    try ProcessMemory.resetPeak()
    try await fetch("large", large)
    print("\(large.size) bytes over a slow disk, peak \(try ProcessMemory.kilobytes("VmHWM") - start) kB")
  }

  private static func measure(root: String, count: Int) async throws {
    let transport = FaultyTransport(content: { _ in [1, 2, 3] })
    let digest: [UInt8] = NumberedFile.digest([1, 2, 3])
    func request(_ number: Int) -> DownloadRequest {
      DownloadRequest(
        id: "level-\(number)/textures.pack", extensionID: "com.example.game.background.\(number)",
        url: "https://cdn.example.com/releases/2026-07/packs/level-\(number)/textures-0123456789abcdef.pack", size: 3, sha256: digest)
    }
    /// Downloads until so many are finished.
    func run(_ queue: DownloadQueue, until wanted: Int) async throws {
      let runner = Task { try await queue.run() }
      while try await queue.status(ofGroup: "files").finished < wanted {
        try await Task.sleep(for: .milliseconds(5))
        // The record of calls would count as memory of the queue.
        transport.forgetCalls()
      }
      runner.cancel()
      try await runner.value
    }

    // Uses each part once before measuring, because that memory does not belong to the queue.
    let small = try await DownloadQueue(root: root + "-small", transport: transport)
    try await small.submit((0..<1000).lazy.map(request), group: "files")
    try await run(small, until: 1000)
    try await small.remove(group: "files")
    await small.close()
    transport.forgetCalls()
    ProcessMemory.giveBack()
    let start = try ProcessMemory.kilobytes("VmRSS")
    try ProcessMemory.resetPeak()

    let queue = try await DownloadQueue(root: root, transport: transport)
    let isNew = await queue.groups.isEmpty
    if isNew { try await queue.submit((0..<count).lazy.map(request), group: "files") }
    let status = try await queue.status(ofGroup: "files")
    guard status.count == count else { fatalError("requests were lost") }
    try await run(queue, until: status.finished + 1500)
    guard case .waiting = try await queue.status(of: DownloadID(group: "files", id: "level-\(count - 1)/textures.pack")).state else {
      fatalError("the last request is not waiting")
    }
    print("\(isNew ? "submitted" : "opened") \(count) requests, peak \(try ProcessMemory.kilobytes("VmHWM") - start) kB")
  }
}
