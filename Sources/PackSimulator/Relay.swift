/// A gate that lets the next download begin only after the events of the previous one were handled, so that the order is the same in every run.
actor Relay {
  private var isHeld = false
  private var isClosed = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Opens the relay: events are handled from now on.
  func open() {
    isHeld = false
    isClosed = false
  }

  /// Closes the relay: events are not handled any more, so no download has to wait.
  func close() {
    isClosed = true
    release()
  }

  /// Holds further downloads until the end of the current one was handled.
  func hold() { isHeld = true }

  /// Lets the waiting downloads continue.
  func release() {
    isHeld = false
    for continuation in waiting { continuation.resume() }
    waiting = []
  }

  /// Waits until the relay is not held.
  func turn() async {
    while isHeld, !isClosed { await withCheckedContinuation { waiting.append($0) } }
  }
}
