extension Task where Success == Never, Failure == Never {
  /// Throws if the task is cancelled.
  package static func checkpoint() throws(PackError) {
    if isCancelled { throw PackError(.cancelled, "cancelled") }
  }
}
