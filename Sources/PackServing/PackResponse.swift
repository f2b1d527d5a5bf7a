/// The response to a request. The bytes of the body are read only on demand.
public struct PackResponse: Sendable {
  /// The status code.
  public let status: Int
  /// The header fields. `Content-Length` is included if a body could follow. `Date`, `Server` and `Connection` are not included: the code that sends
  /// the response adds them.
  public let headers: HeaderFields
  /// The body, or nil if none is sent, as in every response to `HEAD`.
  public let body: PackBody?

  package init(status: Int, headers: HeaderFields, body: PackBody? = nil) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}
