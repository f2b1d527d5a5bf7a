/// One attempt at one download: from the bytes that are here to a complete file on the disk.
struct TransferAttempt: Sendable {
  /// The result of an attempt.
  enum Outcome: Sendable {
    /// The file is complete, and stays in its place until it is moved.
    case complete(path: String)
    /// The attempt failed. `hasGrown` if it added bytes to those that were here.
    case failed(TransferFailure, hasGrown: Bool)
    /// The task was cancelled.
    case stopped
  }

  let download: PlannedDownload
  let priority: Double
  let place: TransferPlace
  let transport: any Transport
  let policy: TransferPolicy
  let clock: any DeviceClock
  let report: AsyncStream<TransferEvent>.Continuation

  var identifier: String { download.identifier.description }
  var part: String { TransferPlace.part(identifier) }
  private var size: UInt64 { download.bytes.size }

  func run() async -> Outcome {
    var outcome = await transfer()
    // What an earlier attempt left may have been wrong. Then the file is fetched from its start.
    if case .again = outcome { outcome = await transfer() }
    guard !Task.isCancelled else { return .stopped }
    switch outcome {
    case .complete: return .complete(path: place.path(part))
    case .again: return .failed(.wrongDigest, hasGrown: false)
    case .failed(.cancelled, _): return .stopped
    case .failed(let failure, let hasGrown): return .failed(failure, hasGrown: hasGrown)
    }
  }

  private enum End {
    case complete
    case failed(TransferFailure, hasGrown: Bool)
    case again
  }

  private func transfer() async -> End {
    var start: UInt64 = 0
    var sink: DownloadSink?
    do throws(TransferFailure) {
      start = try await blocking { () throws(TransferFailure) in try prepare() }
      let identifier = identifier
      if start < size {
        let target = DownloadSink(download, offset: start, in: place, clock: clock, interval: policy.progressInterval) {
          [report, size] received in report.yield(.progress(identifier, received: received, size: size))
        }
        sink = target
        report.yield(.began(identifier, offset: start))
        defer { target.close() }
        try await transport.download(
          TransferRequest(identifier: identifier, url: download.url, size: size, priority: priority), into: target)
      }
      let isRight = try await blocking { [start] () throws(TransferFailure) in try finish(resumedAt: start) }
      return isRight ? .complete : .again
    } catch {
      if start > 0, error == .status(416, retryAfter: nil) {
        place.removePart(identifier)
        return .again
      }
      return .failed(error, hasGrown: sink.map { $0.offset > start } ?? false)
    }
  }

  /// Finds the bytes that are here, and removes those that cannot belong to the file.
  ///
  /// - Returns: their number.
  private func prepare() throws(TransferFailure) -> UInt64 {
    // A part with holes belongs to a pack that was read while it arrived.
    if place.hasMap(identifier) { place.removePart(identifier) }
    var here: TransferPlace.Extent
    do throws(FileFailure) {
      here = try place.extent(of: identifier)
    } catch {
      throw .cannotWrite
    }
    if here.offset > size || here.size > size {
      place.removePart(identifier)
      here = TransferPlace.Extent()
    }
    let start = here.offset
    let (needed, overflow) = (size - here.size).addingReportingOverflow(start < size ? policy.freeSpaceMargin : 0)
    let free = (try? place.files.availableSpace(at: place.handle)) ?? .max
    guard !overflow, needed <= free else { throw .noSpace(needed: overflow ? .max : needed, free: free) }
    return start
  }

  /// Brings the complete file to the disk. Checks its digest if it has bytes of an earlier attempt, because the file may have changed since; other bytes
  /// are checked by the installation.
  ///
  /// - Returns: false if the file was removed because it is another one.
  private func finish(resumedAt start: UInt64) throws(TransferFailure) -> Bool {
    let found = try partSize() ?? 0
    guard found == size else {
      // An incomplete file is kept: the next attempt continues there.
      if found > size { place.removePart(identifier) }
      throw .wrongSize(found)
    }
    if start > 0, try !hasRightDigest() {
      place.removePart(identifier)
      return false
    }
    do throws(FileFailure) {
      try place.files.sync(try place.files.open(part, .readUnlinked, in: place.handle))
    } catch {
      throw .cannotWrite
    }
    place.tidy(identifier)
    return true
  }

  private func hasRightDigest() throws(TransferFailure) -> Bool {
    let files = place.files
    do throws(PackError) {
      let file = try reading(part, files.open(part, .readUnlinked, in: place.handle))
      let digest = try CryptoBackends.standard.makeDigest()
      try files.forEachPiece(of: file, 0..<size, atOnce: 128 << 10, name: part) { (piece, _) throws(PackError) in try digest.update(piece) }
      return try digest.finish() == download.bytes.sha256
    } catch {
      throw error.code == .cancelled ? .cancelled : .cannotWrite
    }
  }

  private func partSize() throws(TransferFailure) -> UInt64? {
    do throws(FileFailure) {
      return try ifPresent(place.files.status(of: part, in: place.handle, following: .asThemselves).size)
    } catch {
      throw .cannotWrite
    }
  }

  /// Runs code that blocks for the disk on a separate thread.
  private func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws(TransferFailure) -> Value) async throws(TransferFailure)
    -> Value
  {
    let result: Result<Value, TransferFailure>
    do throws(PackError) {
      result = try await WorkerPool.value { (_) throws(PackError) in
        do throws(TransferFailure) {
          return .success(try body())
        } catch {
          return .failure(error)
        }
      }
    } catch {
      throw error.code == .cancelled ? .cancelled : .other
    }
    return try result.get()
  }
}
