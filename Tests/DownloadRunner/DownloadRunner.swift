import Foundation
import TestSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A process that downloads, for tests that kill it or measure its memory.
///
///     download-runner fetch ROOT URL LIST LOG NAME          downloads the files in LIST into ROOT/done; appends their names to LOG, with the time
///     download-runner play ROOT URL SEGMENTS                downloads a sample into ROOT/done, in pieces, as a pack that is read meanwhile
///     download-runner slow ROOT URL SIZE SHA SIZE SHA       measures the memory for a large file, after a small one, on a slow disk
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
      try await fetch(root: next(), url: next(), list: next(), log: next(), name: next())
    case "play":
      try await play(root: next(), url: next(), segments: Int(next())!)
    case "slow":
      try await slow(root: next(), url: next(), large: (Int(next())!, next()), small: (Int(next())!, next()))
    case let word:
      fatalError("there is no command '\(word)'")
    }
  }

  private static func fetch(root: String, url: String, list: String, log: String, name: String) async throws {
    var options = URLSessionTransport.Options()
    options.idleTimeoutSeconds = 300
    options.request = {
      var request = URLRequest(url: $0)
      request.setValue(name, forHTTPHeaderField: "User-Agent")
      return request
    }
    let done = root + "/done"
    try FileManager.default.createDirectory(atPath: done, withIntermediateDirectories: true)
    let transfers = try await Transfers(directory: root + "/parts", transport: URLSessionTransport(options: options))
    let finished = try FileHandle(forWritingTo: URL(fileURLWithPath: log))
    let lines = try String(contentsOfFile: list, encoding: .utf8).split(separator: "\n")
    let downloads = lines.compactMap { NumberedFile.download(listed: $0, from: url) }
    let byIdentifier = Dictionary(uniqueKeysWithValues: downloads.map { ($0.identifier.description, $0) })
    await transfers.add(downloads.filter { !FileManager.default.fileExists(atPath: "\(done)/\($0.identifier)") })
    var events = transfers.events.makeAsyncIterator()
    while await !transfers.identifiers.isEmpty, let event = await events.next() {
      switch event {
      case .finished(let identifier, let path):
        guard rename(path, "\(done)/\(identifier)") == 0 else { fatalError("\(path) is gone") }
        try finished.seekToEnd()
        try finished.write(contentsOf: Data("\(Date().timeIntervalSince1970) \(byIdentifier[identifier]!.id)\n".utf8))
        await transfers.settle(identifier)
      case .failed(let identifier, _, _):
        await transfers.settle(identifier)
        await transfers.add([byIdentifier[identifier]!])
      case .began, .progress, .playable, .offline, .online: break
      }
    }
    let count = try FileManager.default.contentsOfDirectory(atPath: done).count
    print("finished \(count) of \(downloads.count), peak \(try ProcessMemory.kilobytes("VmHWM")) kB")
  }

  private static func play(root: String, url: String, segments: Int) async throws {
    var policy = TransferPolicy()
    (policy.unnotedSize, policy.largestPiece) = (256 << 10, 128 << 10)
    try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    let transfers = try await Transfers(directory: root + "/parts", transport: URLSessionTransport(), policy: policy)
    guard let download = LeadSample(segments: segments).download(from: url), await transfers.arrive(download) != nil else {
      fatalError("it does not arrive in pieces")
    }
    await transfers.add([download])
    for await event in transfers.events {
      switch event {
      case .finished(let identifier, let path):
        guard rename(path, root + "/done") == 0 else { fatalError("\(path) is gone") }
        return await transfers.settle(identifier)
      case .failed(let identifier, _, _):
        await transfers.settle(identifier)
        await transfers.add([download])
      case .began, .progress, .playable, .offline, .online: break
      }
    }
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
    let transfers = try await Transfers(
      directory: root, transport: URLSessionTransport(options: options), files: files, clock: SystemClock())
    func fetch(_ name: String, _ file: (size: Int, digest: String)) async throws {
      let digest = file.digest.split(separator: ".").compactMap { UInt8($0) }
      await transfers.add([NumberedFile.download(name, size: UInt64(file.size), sha256: digest, from: "\(url)/\(name)")])
      for await event in transfers.events {
        if case .finished(let identifier, _) = event { return await transfers.settle(identifier) }
        if case .failed = event { fatalError("\(name) did not arrive") }
      }
    }
    try await fetch("small", small)
    ProcessMemory.giveBack()
    let start = try ProcessMemory.kilobytes("VmRSS")
    try ProcessMemory.resetPeak()
    try await fetch("large", large)
    print("\(large.size) bytes over a slow disk, peak \(try ProcessMemory.kilobytes("VmHWM") - start) kB")
  }
}
