/// The completion handlers that the app got because the system started it, or woke it up, for the events of a background session.
///
/// They come before the library exists, so the process has one place for them.
@MainActor
enum RelaunchHandlers {
  private static var waiting: [String: [() -> Void]] = [:]

  /// Keeps a handler until the events of the session have been delivered.
  ///
  /// - Returns: Whether the session belongs to a library. Otherwise the handler is not kept.
  static func keep(_ handler: @escaping () -> Void, for session: String) -> Bool {
    guard BackgroundSessionName.isOurs(session) else { return false }
    waiting[session, default: []].append(handler)
    return true
  }

  /// Calls the handlers of a session, each once.
  static func call(for session: String) {
    for handler in waiting.removeValue(forKey: session) ?? [] { handler() }
  }
}
