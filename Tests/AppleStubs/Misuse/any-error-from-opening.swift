// expect: invalid conversion of thrown error type 'any Error' to 'PackError'
import PackRuntime
import WebKit

/// What opens a pack says why it does not, in the words of PackError.
@MainActor
func makeHandler(_ fetch: @escaping @Sendable (String) async throws -> PackResponder) -> PackSchemeHandler {
  PackSchemeHandler(open: fetch)
}
