// expect: invalid conversion of thrown error type 'any Error' to 'PackError'
import PackRuntime
import WebKit

/// A closure that opens a pack must throw PackError.
@MainActor
func makeHandler(_ fetch: @escaping @Sendable (String) async throws -> PackResponder) -> PackSchemeHandler {
  PackSchemeHandler(open: fetch)
}
