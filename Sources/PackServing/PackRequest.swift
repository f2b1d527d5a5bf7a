/// What somebody asks of a pack, in the terms of HTTP.
public struct PackRequest: Hashable, Sendable {
  /// The method, as it was sent: methods are compared with regard to case.
  public var method: String
  /// The path, percent-encoded, with or without a query: `/img/hero%20big.png?v=3`. A whole address is taken as well; its scheme and its host
  /// are passed over.
  public var target: String
  /// The header fields.
  public var headers: HeaderFields

  /// Makes a request.
  public init(method: String = "GET", target: String, headers: HeaderFields = [:]) {
    self.method = method
    self.target = target
    self.headers = headers
  }
}
