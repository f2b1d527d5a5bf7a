/// The body of a response from a pack.
private final class PackReplyBody: SiteBody {
  let length: UInt64
  private let reader: BodyReader

  init(_ body: PackBody) {
    length = body.length
    reader = body.makeReader()
  }

  var decryptedBytes: UInt64 { reader.decryptedBytes }

  func next(_ receive: (Span<UInt8>) throws(PackError) -> Void) throws(PackError) -> Bool {
    try reader.next(receive)
  }
}

extension SiteReply {
  init(_ response: PackResponse, note: String? = nil) {
    self.init(status: response.status, headers: response.headers, body: response.body.map { PackReplyBody($0) }, note: note)
  }
}
