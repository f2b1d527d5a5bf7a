#if canImport(UIKit)

  extension PackLibrary {
    /// Takes the events for which the system started the app, or woke it up: call this in
    /// `application(_:handleEventsForBackgroundURLSession:completionHandler:)`.
    ///
    /// ```swift
    /// func application(
    ///   _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String, completionHandler: @escaping () -> Void
    /// ) {
    ///   PackLibrary.handleEvents(ofSession: identifier, completionHandler: completionHandler)
    /// }
    /// ```
    ///
    /// It works before the library exists. The library must be created at each start of the app, not when a view appears: the events are delivered to it.
    /// Then the handler is called, on the main thread, and the system may suspend the app. With Background Assets there are no such events.
    ///
    /// - Returns: Whether the session belongs to a library. If not, the handler is not called: the session belongs to other code of the app.
    @MainActor @discardableResult
    public static func handleEvents(ofSession identifier: String, completionHandler: @escaping () -> Void) -> Bool {
      RelaunchHandlers.keep(completionHandler, for: identifier)
    }
  }
#endif
