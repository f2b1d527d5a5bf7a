// expect: value of optional type 'HTTPURLResponse?' must be unwrapped to a value of type 'HTTPURLResponse'
import WebKit

/// Making a response may fail.
@MainActor
func answer(_ task: any WKURLSchemeTask, _ url: URL) {
  task.didReceive(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil))
}
