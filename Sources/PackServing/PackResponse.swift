/// The answer to a request: everything but the bytes of the body, which are read when they are wanted.
public struct PackResponse: Sendable {
  /// The status code.
  public let status: Int
  /// The header fields, `Content-Length` among them wherever a body could follow. Neither `Date` nor `Server` nor `Connection`: those belong to
  /// whoever sends the response.
  public let headers: HeaderFields
  /// The body; nil where none is sent, as with every answer to `HEAD`.
  public let body: PackBody?

  package init(status: Int, headers: HeaderFields, body: PackBody? = nil) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}
