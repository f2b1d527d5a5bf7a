/// An HTTP request for a file of a pack.
public struct PackRequest: Hashable, Sendable {
  /// The method, as sent. Methods are case-sensitive.
  public var method: String
  /// The percent-encoded path, with or without a query: `/img/hero%20big.png?v=3`. A full URL is accepted too; its scheme and host are ignored.
  public var target: String
  /// The header fields.
  public var headers: HeaderFields

  /// Creates a request.
  public init(method: String = "GET", target: String, headers: HeaderFields = [:]) {
    self.method = method
    self.target = target
    self.headers = headers
  }
}
