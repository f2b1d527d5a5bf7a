/// The files that open packs on the device: each plan asks for them, as soon as a pack is complete.
extension LibraryLoop {
  /// What came of the last request for an opener.
  struct OpenerRequest {
    var time: Int64
    /// The number of requests, one after the other, that were made when its time was over by this device's clock.
    var misses: UInt64 = 0
    var error: PackError?
  }

  /// Asks in the background for the openers that are missing, and again until none is.
  func askForOpenersLater() {
    guard !isStopped else { return }
    guard !isAskingForOpeners else {
      isOpenerWanted = true
      return
    }
    openers?.cancel()
    openers = Task { [weak self, sleep] in
      while let seconds = await self?.askForOpeners() {
        await sleep(seconds)
        if Task.isCancelled { return }
      }
    }
  }

  /// - Returns: The number of seconds after which the next request follows. Nil if nothing is sealed.
  private func askForOpeners() async -> UInt64? {
    isAskingForOpeners = true
    defer { isAskingForOpeners = false }
    var delay: UInt64?
    repeat {
      isOpenerWanted = false
      delay = nil
      for pack in (try? await delivery.store.sealed()) ?? [] where !isStopped {
        if let error = await open(pack) {
          if waiters.contains(pack.id) { await end(pack, error) }
          delay = min(delay ?? .max, wait(for: pack))
        } else {
          openerRequests[pack.openerURL] = nil
        }
        await report(pack.id)
      }
    } while isOpenerWanted && !isStopped
    return isStopped ? nil : delay
  }

  /// Opens a pack if its opener is there.
  ///
  /// - Returns: Why it stays sealed; nil if it is open.
  private func open(_ pack: SealedPack) async -> PackError? {
    let now = delivery.state.time
    var request = openerRequests[pack.openerURL] ?? OpenerRequest(time: .min)
    if let error = request.error, now >= request.time, now - request.time < Self.openerPause { return error }
    request.time = now
    do throws(PackError) {
      let bytes = try await source(.opener(address: pack.openerURL, size: Int(clamping: pack.openerSize)))
      try await delivery.store.unseal(pack.id, with: bytes)
      return nil
    } catch {
      if pack.opens.map({ $0.secondsSince1970 <= now }) ?? true { request.misses += 1 }
      request.error = error.code == .sealed ? Self.sealed(pack) : error
      openerRequests[pack.openerURL] = request
      return request.error
    }
  }

  /// Ends the wait of calls for a pack, unless another request may help soon.
  private func end(_ pack: SealedPack, _ error: PackError) async {
    if Self.isTemporary(error) {
      waiters.note(error, of: pack.id)
      retrying.insert(pack.id)
    } else {
      failures[pack.id] = error
    }
  }

  /// Returns how long to wait before the next request, in seconds. The time in the manifest is only a hint: whatever the clock says, there is one each hour.
  private func wait(for pack: SealedPack) -> UInt64 {
    guard let request = openerRequests[pack.openerURL] else { return Self.longestOpenerWait }
    if let error = request.error, Self.isTemporary(error), waiters.contains(pack.id) { return Self.lookInterval }
    let left = (pack.opens?.secondsSince1970 ?? .min).subtractingReportingOverflow(delivery.state.time)
    if !left.overflow, left.partialValue > 0 { return min(UInt64(left.partialValue) + 1, Self.longestOpenerWait) }
    return min(60 << min(request.misses, 6), Self.longestOpenerWait)
  }

  /// Returns the error of a pack whose opener is not published.
  private static func sealed(_ pack: SealedPack) -> PackError {
    PackError(
      .sealed, "pack '\(pack.id)' opens \(pack.opens.map { "at \($0)" } ?? "when its opener is published")", advice: .tryAgain)
  }

  /// The number of seconds in which an opener is not requested again.
  private static let openerPause: Int64 = 10
  /// The largest number of seconds between two requests for an opener.
  private static let longestOpenerWait: UInt64 = 3600
}
