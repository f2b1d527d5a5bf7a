extension Task where Success == Never, Failure == Never {
  /// Throws if the task is cancelled, or the pool of the current thread was stopped.
  package static func checkpoint() throws(PackError) {
    if WorkerPool.endsEarly { throw PackError(.cancelled, "cancelled") }
  }
}
