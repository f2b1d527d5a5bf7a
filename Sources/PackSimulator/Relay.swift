/// Has one download at a time be told of to its end before the next one begins, so that the same things always happen in the same order.
actor Relay {
  private var isHeld = false
  private var isClosed = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Somebody listens from now on.
  func open() {
    isHeld = false
    isClosed = false
  }

  /// Nobody listens any more, so nobody has to wait.
  func close() {
    isClosed = true
    release()
  }

  /// The end of a download is being told.
  func hold() { isHeld = true }

  /// It was told.
  func release() {
    isHeld = false
    for continuation in waiting { continuation.resume() }
    waiting = []
  }

  /// Returns when nothing is being told.
  func turn() async {
    while isHeld, !isClosed { await withCheckedContinuation { waiting.append($0) } }
  }
}
