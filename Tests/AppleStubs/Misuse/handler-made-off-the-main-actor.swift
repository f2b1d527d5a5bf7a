// expect: call to main actor-isolated initializer 'init(open:)' in a synchronous nonisolated context
import PackRuntime
import WebKit

func makeHandler(_ responder: PackResponder) -> PackSchemeHandler {
  PackSchemeHandler { _ in responder }
}
