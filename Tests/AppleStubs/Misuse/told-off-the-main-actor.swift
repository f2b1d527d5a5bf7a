// expect: call to main actor-isolated instance method 'didFinish()' in a synchronous nonisolated context
import WebKit

/// The methods of WebKit's tasks must be called on the main actor.
func end(_ task: any WKURLSchemeTask) {
  task.didFinish()
}
