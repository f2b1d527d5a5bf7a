// expect: capture of 'task' with non-Sendable type 'any WKURLSchemeTask' in a '@Sendable' closure
import Foundation
import WebKit

/// A task cannot be sent to another thread.
@MainActor
func answer(_ task: any WKURLSchemeTask) {
  let work: @Sendable () -> Void = { print(task) }
  Thread.detachNewThread(work)
}
