#if canImport(FoundationNetworking)
  import Foundation
  import FoundationNetworking
#else
  import Foundation
#endif

/// Passes the events of a session to their exchanges.
final class SessionDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  private struct State {
    var exchanges: [Int: Exchange] = [:]
    var tasks: [String: Int] = [:]
  }

  private let state = Monitor(State())

  /// Sends a request and returns when the whole response has been received, or soon after the task was cancelled.
  ///
  /// - Parameter identifier: the download that it is for, by which its priority is changed.
  func run(_ exchange: Exchange, as identifier: String? = nil) async throws(TransferFailure) {
    let number = exchange.task.taskIdentifier
    state.withLock { state in
      state.exchanges[number] = exchange
      if let identifier { state.tasks[identifier] = number }
    }
    defer {
      state.withLock { state in
        state.exchanges[number] = nil
        if let identifier, state.tasks[identifier] == number { state.tasks[identifier] = nil }
      }
    }
    try await exchange.run()
  }

  func setPriority(_ priority: Float, of identifier: String) {
    let exchange = state.withLock { state in state.tasks[identifier].flatMap { state.exchanges[$0] } }
    exchange?.task.priority = priority
  }

  private func exchange(_ task: URLSessionTask) -> Exchange? { state.withLock { $0.exchanges[task.taskIdentifier] } }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(exchange(task)?.redirect(response, to: request))
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    let isWanted = exchange(dataTask)?.receive(response) ?? false
    completionHandler(isWanted ? .allow : .cancel)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    exchange(dataTask)?.receive(data)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    exchange(task)?.complete(error)
  }
}
