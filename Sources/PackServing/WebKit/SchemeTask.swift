/// The receiver of the response to one request of a web view: exactly one response, then pieces, then the end or a failure.
@MainActor
package protocol SchemeReceiver: AnyObject, SendableMetatype {
  /// The form in which the receiver takes bytes.
  associatedtype Piece: Sendable

  /// Copies bytes. Called on the thread that read them.
  nonisolated static func piece(_ bytes: Span<UInt8>) -> Piece

  func receive(_ response: PackResponse)
  func receive(_ piece: Piece)
  func finish()
  func fail(_ error: PackError)
}

/// The owner of one request of a web view.
///
/// A web view terminates the process if it receives a callback for a request that it has stopped. So the reference to the receiver is released as
/// soon as the request is stopped, finished or failed, and is checked before each call. Data that is read in the meantime is discarded.
@MainActor
package final class SchemeTask<Receiver: SchemeReceiver> {
  /// The result of one step.
  struct Step: Sendable {
    /// Nil in all steps but the first.
    var response: PackResponse?
    var piece: Receiver.Piece?
    /// What the next step reads; nil after the last one.
    var rest: Rest?
  }

  /// The rest of a body to be read.
  struct Rest: Sendable {
    let reader: BodyReader
    var count: UInt64
  }

  private let request: PackRequest
  private var receiver: Receiver?
  private var responder: PackResponder?
  private var rest: Rest?
  private var missing: ParkedReading.Missing?
  /// Waits for what is missing.
  private var parked: Task<Void, Never>?
  private let completion: @MainActor () -> Void

  /// - Parameter completion: called once, when the receiver gets no more calls.
  init(_ receiver: Receiver, _ request: PackRequest, completion: @escaping @MainActor () -> Void) {
    self.receiver = receiver
    self.request = request
    self.completion = completion
  }

  /// Whether the receiver still expects calls.
  var isActive: Bool { receiver != nil }

  /// Sets the responder. From now on the task can take steps.
  func answer(from responder: PackResponder) {
    self.responder = responder
  }

  /// Releases the receiver, which gets no more calls. Does nothing if the task has ended.
  package func stop() {
    _ = end()
  }

  /// Ends the task with an error, whether or not there was a response.
  func fail(_ error: PackError) {
    end()?.fail(error)
  }

  /// Reads one piece on a separate thread and passes it on. The response is passed on with the first piece.
  func step() async {
    guard isActive, let responder else { return }
    do throws(PackError) {
      let (request, rest) = (request, rest)
      let step = try await WorkerPool.value { (_) throws(PackError) in
        try ParkedReading.read { () throws(PackError) in try Self.read(rest, of: request, from: responder) }
      }
      switch step {
      case .value(let step): deliver(step)
      case .missing(let bytes): missing = bytes
      }
    } catch {
      fail(error)
    }
  }

  /// Waits for what is missing for the next step, and then calls a function. Does nothing if nothing is missing.
  ///
  /// - Returns: Whether it waits.
  func park(_ next: @escaping @MainActor @Sendable () -> Void) -> Bool {
    guard let bytes = missing.take(), isActive else { return false }
    parked = Task {
      do throws(PackError) {
        try await bytes.arrive()
        next()
      } catch {
        giveUp(error)
      }
    }
    return true
  }

  /// Says that what is asked for does not arrive now: with a status if there was no response yet.
  private func giveUp(_ error: PackError) {
    guard rest == nil, error.code != .cancelled else { return fail(error) }
    receiver?.receive(PackResponse(status: 503, headers: ["Content-Length": "0", "Retry-After": "5"]))
    end()?.finish()
  }

  private func deliver(_ step: Step) {
    // A callback may make the web view stop the task before the call returns, so the receiver is checked each time.
    if let response = step.response { receiver?.receive(response) }
    if let piece = step.piece { receiver?.receive(piece) }
    rest = step.rest
    if step.rest == nil { end()?.finish() }
  }

  /// Returns the receiver and releases it. Returns nil from then on.
  private func end() -> Receiver? {
    guard let last = receiver else { return nil }
    receiver = nil
    parked?.cancel()
    parked = nil
    rest = nil
    responder = nil
    completion()
    return last
  }

  nonisolated private static func read(
    _ rest: Rest?, of request: PackRequest, from responder: PackResponder
  ) throws(PackError) -> Step {
    var step = Step(rest: rest)
    if rest == nil {
      let response = try responder.respond(to: request)
      step.response = response
      if let body = response.body { step.rest = Rest(reader: body.makeReader(), count: body.length) }
    }
    guard var rest = step.rest else { return step }
    let isThere = try rest.reader.next { bytes in
      step.piece = Receiver.piece(bytes)
      rest.count -= UInt64(bytes.count)
    }
    step.rest = isThere && rest.count > 0 ? rest : nil
    return step
  }
}
