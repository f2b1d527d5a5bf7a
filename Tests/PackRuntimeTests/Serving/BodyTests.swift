import Foundation
import TestSupport
import Testing

@Suite("Response bodies", .bounded)
struct BodyTests {
  @Test("a player's consecutive ranges decompress each frame once")
  func sequentialRanges() async throws {
    var random = SeededGenerator(for: "the ranges of a player")
    let film = random.bytes(1 << 20)
    let directory = try TemporaryDirectory()
    let path = try await makePack(
      SampleTree(["film.mp4": .init(film), "sound.mp3": .init(film.reversed())]), in: directory, frameSize: 256 << 10)
    let files = FaultyFiles()
    let pack = try open(path, files: files)
    let responder = PackResponder(pack)
    var seen: [UInt8] = []
    _ = try body(responder, "/film.mp4", "bytes=0-0")
    let before = files.bytesRead
    // Two files in turns, as a game plays a video and its music.
    for start in stride(from: 0, to: film.count, by: 16 << 10) {
      seen += try body(responder, "/film.mp4", "bytes=\(start)-\(start + (16 << 10) - 1)")
      _ = try body(responder, "/sound.mp3", "bytes=\(start)-\(start + (16 << 10) - 1)")
    }
    #expect(seen == film)
    // Both files once, and occasionally blocks of the index.
    #expect(files.bytesRead - before < UInt64(film.count) * 5 / 2, "\(files.bytesRead - before) bytes were read")
  }

  @Test("a body may be read twice, also at the same time")
  func twoReaders() async throws {
    let site = try await Site()
    let body = try #require(try site.responder.respond(to: PackRequest(target: "/ten.bin")).body)
    let one = body.makeReader()
    let other = body.makeReader()
    var sizes: [Int] = []
    let count = { (piece: Span<UInt8>) in sizes.append(piece.count) }
    while try one.next(count) { #expect(try other.next(count)) }
    #expect(try !other.next(count))
    #expect(try !one.next(count))
    #expect(sizes.reduce(0, +) == 20_000)
  }

  @Test("if a file does not match its digest in the index, its last piece is not returned, and nothing after it")
  func wrongDigest() async throws {
    // As from a maker of packs that records a wrong digest for one file.
    let vector = try TestVector(named: "hostile/record-digest-wrong.vector")
    let directory = try TemporaryDirectory()
    let path = try directory.write(vector.pack, to: "lying.pack")
    let pack = try Pack.open(path, key: try vector.key.packKey())
    var refused = 0
    try pack.forEachEntry { (entry) throws(PackError) in
      let response = try PackResponder(pack).respond(to: PackRequest(target: "/\(entry.path)"))
      guard let reader = response.body?.makeReader() else { return }
      var handedOut = 0
      var error: PackError?
      for _ in 0..<3 {
        do throws(PackError) {
          while try reader.next({ handedOut += $0.count }) {}
        } catch let failure {
          error = failure
        }
      }
      guard let error else { return }
      #expect(error.code == .digestMismatch)
      #expect(handedOut == 0)
      refused += 1
    }
    #expect(refused == 1)
  }

  @Test("a file larger than the limit is authenticated by its tags only, and its digest is not checked")
  func digestLimit() async throws {
    let vector = try TestVector(named: "hostile/record-digest-wrong.vector")
    let directory = try TemporaryDirectory()
    let pack = try Pack.open(try directory.write(vector.pack, to: "lying.pack"), key: try vector.key.packKey())
    func refusals(_ limit: UInt64) throws(PackError) -> Int {
      var options = PackResponder.Options()
      options.digestLimit = limit
      var refused = 0
      try pack.forEachEntry { (entry) throws(PackError) in
        guard let reader = try PackResponder(pack, options: options).respond(to: PackRequest(target: "/\(entry.path)")).body?.makeReader()
        else { return }
        if code({ () throws(PackError) in while try reader.next({ _ in }) {} }) != nil { refused += 1 }
      }
      return refused
    }
    #expect(try refusals(.max) == 1)
    #expect(try refusals(0) == 0)
  }

  @Test("decrypted bytes are counted once, and a frame in memory adds none")
  func decryptedBytes() async throws {
    var random = SeededGenerator(for: "what was decrypted")
    let directory = try TemporaryDirectory()
    let pack = try open(try await makePack(SampleTree(["a.bin": .init(random.bytes(200_000))]), in: directory))
    func cost(_ range: String) throws -> UInt64 {
      let request = PackRequest(target: "/a.bin", headers: ["Range": range])
      let reader = try #require(try PackResponder(pack).respond(to: request).body).makeReader()
      while try reader.next({ _ in }) {}
      return reader.decryptedBytes
    }
    let first = try cost("bytes=0-9")
    // Whole segments of one frame.
    #expect(first >= 10 && first < 300_000)
    #expect(try cost("bytes=20-29") == 0)
  }

  @Test("reading a changed frame throws each time and returns nothing of it")
  func damagedFrame() async throws {
    var random = SeededGenerator(for: "a frame that somebody changed")
    let directory = try TemporaryDirectory()
    let path = try await makePack(SampleTree(["a.bin": .init(random.bytes(200_000))]), in: directory)
    var bytes = try #require(directory.bytes(of: "sample.pack"))
    bytes[bytes.count / 2] ^= 1
    try directory.write(bytes, to: "changed.pack")
    let responder = PackResponder(try open(directory("changed.pack")))
    _ = path
    let reader = try #require(try responder.respond(to: PackRequest(target: "/a.bin")).body).makeReader()
    var handedOut = 0
    for _ in 0..<3 {
      #expect(code { () throws(PackError) in while try reader.next({ handedOut += $0.count }) {} } == .authenticationFailed)
    }
    #expect(handedOut < 200_000 && handedOut % 65_536 < 65_536)
    // Undamaged parts are still returned.
    #expect(try body(responder, "/a.bin", "bytes=0-9").count == 10)
  }

  @Test("an error of the receiver ends the reading")
  func receiverThrows() async throws {
    let site = try await Site()
    let reader = try #require(try site.responder.respond(to: PackRequest(target: "/ten.bin")).body).makeReader()
    let gone = { (_: Span<UInt8>) throws(PackError) in throw PackError(.cancelled, "gone") }
    #expect(code { () throws(PackError) in _ = try reader.next(gone) } == .cancelled)
    #expect(code { () throws(PackError) in _ = try reader.next { _ in } } == .cancelled)
  }

  @Test("eight threads that read at random positions read the same bytes as one")
  func manyThreads() async throws {
    var random = SeededGenerator(for: "eight threads")
    let content = random.bytes(600_000)
    let site = try await Site(["film.mp4": content])
    let responder = site.responder
    try await WorkerPool.run(8) { (_, number) throws(PackError) in
      var random = SeededGenerator(seed: UInt64(number))
      for _ in 0..<60 {
        let start = Int.random(in: 0..<content.count, using: &random)
        let end = Int.random(in: start..<content.count, using: &random)
        let response = try responder.respond(to: PackRequest(target: "/film.mp4", headers: ["Range": "bytes=\(start)-\(end)"]))
        var seen: [UInt8] = []
        guard let reader = response.body?.makeReader() else { throw PackError(.internalError, "no body") }
        while try reader.next({ seen.append(copying: $0) }) {}
        guard seen == Array(content[start...end]) else { throw PackError(.internalError, "other bytes at \(start)-\(end)") }
      }
    }
  }

  #if os(Linux)
    @Test(
      "a file of 64 MB is read with at most 8 MB of memory, including the receiver's pieces",
      .enabled(if: ProcessMemory.isMeasurable, "a sanitizer uses memory of its own"))
    func memory() async throws {
      let directory = try TemporaryDirectory()
      let megabyte = [UInt8](repeating: 7, count: 1 << 20)
      var random = SeededGenerator(for: "a file of 64 MB")
      var content: [UInt8] = []
      for _ in 0..<64 { content += random.bytes(64) + megabyte.dropFirst(64) }
      let path = try await makePack(
        SampleTree(["large.data": .init(content)]), in: directory, segmentSize: Limits.defaultSegment, frameSize: Limits.defaultFrameSize)
      content = []
      let responder = PackResponder(try open(path))
      let response = try responder.respond(to: PackRequest(target: "/large.data"))
      // Other tests may allocate memory meanwhile, so one measurement can be wrong. A reader that needs more memory needs it in each.
      var smallestPeak = Int.max
      for _ in 0..<8 where smallestPeak >= 8000 {
        ProcessMemory.giveBack()
        let start = try ProcessMemory.kilobytes("VmRSS")
        try ProcessMemory.resetPeak()
        let reader = try #require(response.body).makeReader()
        var count = 0
        while try reader.next({ count += $0.count }) {}
        #expect(count == 64 << 20)
        smallestPeak = min(smallestPeak, try ProcessMemory.kilobytes("VmHWM") - start)
      }
      #expect(smallestPeak < 8000, "\(smallestPeak) kB at the peak")
      print("a file of 64 MB: \(smallestPeak) kB at the peak")
    }
  #endif

  private func body(_ responder: PackResponder, _ target: String, _ range: String) throws -> [UInt8] {
    let response = try responder.respond(to: PackRequest(target: target, headers: ["Range": range]))
    var bytes: [UInt8] = []
    let reader = try #require(response.body).makeReader()
    while try reader.next({ bytes.append(copying: $0) }) {}
    return bytes
  }
}
