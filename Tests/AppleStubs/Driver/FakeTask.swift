import Foundation
import WebKit

/// A task as strict as WebKit's. It traps if WebKit's would throw an exception that ends the process.
@MainActor
final class FakeTask: NSObject, WKURLSchemeTask {
  enum State { case waiting, answered, finished, failed, stopped }

  let request: URLRequest
  private(set) var state = State.waiting
  private(set) var response: HTTPURLResponse?
  private(set) var data = Data()
  private(set) var error: NSError?
  /// The number of calls.
  private(set) var calls = 0
  /// Called after each call.
  var react: (FakeTask) -> Void = { _ in }

  var isOver: Bool { state != .waiting && state != .answered }

  init(_ address: String, method: String = "GET", headers: [String: String] = [:]) {
    var request = URLRequest(url: URL(string: address)!)
    request.httpMethod = method
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    self.request = request
  }

  func didReceive(_ response: URLResponse) {
    tell(allowed: [.waiting], next: .answered)
    precondition(response.url == request.url, "a response for another URL")
    self.response = response as? HTTPURLResponse
    react(self)
  }

  func didReceive(_ data: Data) {
    tell(allowed: [.answered], next: .answered)
    self.data += data
    react(self)
  }

  func didFinish() {
    tell(allowed: [.answered], next: .finished)
    react(self)
  }

  func didFailWithError(_ error: any Error) {
    tell(allowed: [.waiting, .answered], next: .failed)
    self.error = error as NSError
    react(self)
  }

  func stop() {
    precondition(!isOver, "stopped in the state \(state)")
    state = .stopped
  }

  private func tell(allowed: Set<State>, next: State) {
    MainActor.preconditionIsolated("called on another thread")
    precondition(allowed.contains(state), "\(next) was called in the state \(state)")
    state = next
    calls += 1
  }
}

/// A navigation of a page.
final class FakeAction: WKNavigationAction {
  private final class Frame: WKFrameInfo {
    private let isMain: Bool
    init(isMain: Bool) { self.isMain = isMain }
    override var isMainFrame: Bool { isMain }
  }

  private let asked: URLRequest
  private let frame: Frame

  init(_ address: String, isMain: Bool) {
    asked = URLRequest(url: URL(string: address)!)
    frame = Frame(isMain: isMain)
  }

  override var request: URLRequest { asked }
  override var targetFrame: WKFrameInfo? { frame }
}
