package import PackFormat
import PackWork

/// Where one request of a web view takes its answer: exactly one response, then pieces, then the end or a failure.
@MainActor
package protocol SchemeReceiver: AnyObject, SendableMetatype {
  /// How the receiver takes bytes.
  associatedtype Piece: Sendable

  /// Copies bytes. Called on the thread that read them.
  nonisolated static func piece(_ bytes: Span<UInt8>) -> Piece

  func receive(_ response: PackResponse)
  func receive(_ piece: Piece)
  func finish()
  func fail(_ error: PackError)
}

/// The one owner of one request of a web view.
///
/// A web view ends the process when it hears of a request that it stopped. So the receiver is let go of in the moment in which it is stopped, finished
/// or failed, and is looked for again before each call: what is read meanwhile is thrown away.
@MainActor
package final class SchemeTask<Receiver: SchemeReceiver> {
  /// What one step yields.
  struct Step: Sendable {
    /// Nil in all steps but the first.
    var response: PackResponse?
    var piece: Receiver.Piece?
    /// What the next step reads; nil after the last one.
    var rest: Rest?
  }

  /// What is still to be read of a body.
  struct Rest: Sendable {
    let reader: BodyReader
    var count: UInt64
  }

  private let request: PackRequest
  private var receiver: Receiver?
  private var responder: PackResponder?
  private var rest: Rest?
  private let completion: @MainActor () -> Void

  /// - Parameter completion: called once, when nothing is sent to the receiver any more.
  init(_ receiver: Receiver, _ request: PackRequest, completion: @escaping @MainActor () -> Void) {
    self.receiver = receiver
    self.request = request
    self.completion = completion
  }

  /// Whether the receiver still waits for something.
  var isActive: Bool { receiver != nil }

  /// Says who answers. The task can take steps from now on.
  func answer(from responder: PackResponder) {
    self.responder = responder
  }

  /// Lets go of the receiver, which hears nothing any more. Stopping what has ended does nothing.
  package func stop() {
    _ = end()
  }

  /// Ends the task with an error, whether or not there was a response.
  func fail(_ error: PackError) {
    end()?.fail(error)
  }

  /// Reads one piece on a thread of its own and hands it on: the response comes with the first one.
  func step() async {
    guard isActive, let responder else { return }
    do throws(PackError) {
      let (request, rest) = (request, rest)
      let step = try await WorkerPool.value { (_) throws(PackError) in
        try Self.read(rest, of: request, from: responder)
      }
      deliver(step)
    } catch {
      fail(error)
    }
  }

  private func deliver(_ step: Step) {
    // What it is told may make the web view stop the task before the call returns, so the receiver is looked for each time.
    if let response = step.response { receiver?.receive(response) }
    if let piece = step.piece { receiver?.receive(piece) }
    rest = step.rest
    if step.rest == nil { end()?.finish() }
  }

  /// Gives the receiver back once, and never again.
  private func end() -> Receiver? {
    guard let last = receiver else { return nil }
    receiver = nil
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
