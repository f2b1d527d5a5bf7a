/// The completion handlers that the app got because the system started it, or woke it up, for the events of a background session.
///
/// They come before the library exists, so the process has one place for them.
@MainActor
enum RelaunchHandlers {
  private static var waiting: [String: [() -> Void]] = [:]
  /// The sessions whose events were delivered before a handler came.
  private static var early: Set<String> = []

  /// Keeps a handler until the events of the session have been delivered. If that was reported before it came, it may have been for the events of an
  /// earlier time: then the handler is called when it is reported again, or at the end of a time limit.
  ///
  /// - Returns: Whether the session belongs to a library. Otherwise the handler is not kept.
  static func keep(_ handler: @escaping () -> Void, for session: String, limit: Duration = .seconds(5)) -> Bool {
    guard BackgroundSessionName.isOurs(session) else { return false }
    waiting[session, default: []].append(handler)
    if early.remove(session) != nil {
      Task {
        try? await Task.sleep(for: limit)
        release(session)
      }
    }
    return true
  }

  /// Calls the handlers of a session, each once.
  static func call(for session: String) {
    if waiting[session] == nil { early.insert(session) }
    release(session)
  }

  private static func release(_ session: String) {
    for handler in waiting.removeValue(forKey: session) ?? [] { handler() }
  }
}
