// expect: call to main actor-isolated instance method 'didFinish()' in a synchronous nonisolated context
import WebKit

/// WebKit's tasks are told things on the main actor.
func end(_ task: any WKURLSchemeTask) {
  task.didFinish()
}
