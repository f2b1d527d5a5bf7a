/// Answers HTTP requests with the files of a pack. The responses are the same for a web view's scheme handler and for a server.
///
/// A responder is a pure value over an open pack. It uses no sockets, no dates and no client state, and may be used from any number of threads.
///
/// - It supports `GET` and `HEAD`. The response to any other method is 405.
/// - Each file has one representation, with a strong entity tag: the start of its digest. The same bytes have the same tag in every version and in
///   every pack. A pack contains no dates, so conditions with dates are ignored, and the response to a range with a date condition is the whole file.
/// - Ranges behave as in nginx, within RFC 9110 §14; see ``respond(to:)``.
public struct PackResponder: Sendable {
  /// Options of the responses.
  public struct Options: Sendable {
    /// The name of the index file of a directory: the response to `/` is `/index.html`, the response to `/en/` is `/en/index.html`.
    public var indexName = "index.html"
    /// The path in the pack of the page that is returned for missing paths, for an application with client-side routing. It is returned only if the
    /// last component of the path has no extension, so that a missing image is still a 404.
    public var fallback: String?
    /// Whether pages are isolated from other origins (COOP, COEP and CORP), which `SharedArrayBuffer` and threads in WebAssembly need. Isolated pages
    /// can load resources from other origins only if these allow it.
    public var isIsolated = false
    /// The `Content-Security-Policy` of every response.
    public var contentSecurityPolicy: String?
    /// The `Cache-Control` of every response with content. Addresses stay the same across versions, so by default a cache must revalidate each time,
    /// and gets a 304.
    public var cacheControl = "no-cache"
    /// The maximum size in bytes of a file whose digest is checked when the whole file is read. Every byte is authenticated by the tags in any case.
    /// The digest additionally proves that the pack's maker put the right bytes there. Checking it takes about as long as everything else together.
    public var digestLimit = UInt64.max

    /// Creates the default options: an index, no fallback, no isolation, no policy, and caches that revalidate.
    public init() {}
  }

  private let pack: Pack
  private let options: Options
  /// An object to keep alive, because the pack belongs to it.
  private let owner: (any AnyObject & Sendable)?

  /// Creates a responder.
  ///
  /// - Parameters:
  ///   - pack: a pack. It stays open as long as the responder, its responses or their readers exist.
  ///   - options: the options. A value with a control character is a programming error.
  public init(_ pack: Pack, options: Options = .init()) {
    self.init(pack, owner: nil, options: options)
  }

  /// - Parameter owner: an object to keep alive as long as the responder, because the pack belongs to it.
  package init(_ pack: Pack, owner: (any AnyObject & Sendable)?, options: Options) {
    self.owner = owner
    for value in [options.contentSecurityPolicy ?? "", options.cacheControl] {
      precondition(value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a header field cannot hold control characters")
    }
    self.pack = pack
    self.options = options
  }

  /// Returns the response to a request. Blocks its thread while it reads one or two blocks of the index.
  ///
  /// - 200 with a whole file; 206 with a range, or with several ranges as `multipart/byteranges`; 416 if the file has none of the bytes, or if the
  ///   field is not a valid list of ranges. The response is the whole file if the unit is not bytes, if there are more than 16 ranges, or if the
  ///   ranges together are larger than the file. `Range` is used only for `GET`, and only if `If-Range` is absent or is the file's tag.
  /// - 304 if `If-None-Match` lists the file's tag, 412 if `If-Match` does not.
  /// - 301 from a directory that has an index to the same path with a slash at its end. The body is a page that redirects clients that do not follow
  ///   redirects.
  /// - 400 for an invalid target, 404 for a file that is not in the pack, 405 for another method.
  ///
  /// - Throws: the error of a damaged pack. An invalid request does not throw; it gets the status above.
  public func respond(to request: PackRequest) throws(PackError) -> PackResponse {
    guard request.method == "GET" || request.method == "HEAD" else {
      return answer(405, ["Allow": "GET, HEAD"])
    }
    guard let target = RequestTarget(request.target) else { return answer(400) }
    if let entry = try file(target.isDirectory ? target.path + options.indexName : target.path) {
      return deliver(entry, to: request)
    }
    if !target.isDirectory, try file("\(target.path)/\(options.indexName)") != nil {
      return redirect(request, to: "/\(RequestTarget.encoded(target.path))/\(target.query ?? "")")
    }
    if let fallback = options.fallback, !Self.hasExtension(target.path), let entry = try file(fallback) {
      return deliver(entry, to: request)
    }
    return answer(404)
  }

  private func file(_ path: String) throws(PackError) -> Entry? {
    // No pack has a longer path.
    guard path.utf8.count <= Limits.pathLength, let entry = try pack.find(path), entry.kind == .file else { return nil }
    return entry
  }

  /// Whether the last component of a path has an extension.
  package static func hasExtension(_ path: String) -> Bool {
    path.utf8.split(separator: UInt8(ascii: "/")).last?.contains(UInt8(ascii: ".")) ?? false
  }

  /// Responds with a file, in the order of RFC 9110 §13.2.2.
  private func deliver(_ entry: Entry, to request: PackRequest) -> PackResponse {
    let tag = EntityTag(entry)
    let validators: HeaderFields = ["ETag": tag.text, "Cache-Control": options.cacheControl]
    if let wanted = request.headers["If-Match"], !tag.isListed(in: wanted, isWeak: false) {
      return answer(412)
    }
    if let known = request.headers["If-None-Match"], tag.isListed(in: known, isWeak: true) {
      return answer(304, validators, length: nil)
    }
    let media = MediaType(path: entry.path)
    var headers = HeaderFields()
    headers.append("Accept-Ranges", "bytes")
    headers.fields += validators.fields
    if let encoding = media.encoding { headers.append("Content-Encoding", encoding) }
    switch selection(request, of: entry, tag) {
    case .whole:
      headers.append("Content-Type", media.type)
      let body = PackBody(pack, entry.size == 0 ? [] : [.content(entry, 0..<entry.size)], digestLimit: options.digestLimit)
      return answer(200, headers, length: body.length, request.method == "HEAD" ? nil : body)
    case .unsatisfiable:
      return answer(416, ["Content-Range": "bytes */\(entry.size)"])
    case .parts(let ranges) where ranges.count == 1:
      headers.append("Content-Type", media.type)
      headers.append("Content-Range", Self.contentRange(ranges[0], of: entry))
      let body = PackBody(pack, [.content(entry, ranges[0])])
      return answer(206, headers, length: body.length, body)
    case .parts(let ranges):
      // No file can contain its own digest, so the boundary is not in the content.
      let boundary = entry.sha256.hex
      headers.append("Content-Type", "multipart/byteranges; boundary=\(boundary)")
      var parts: [PackBody.Part] = []
      for range in ranges {
        let head = "Content-Type: \(media.type)\r\nContent-Range: \(Self.contentRange(range, of: entry))"
        parts.append(.text(Array("\r\n--\(boundary)\r\n\(head)\r\n\r\n".utf8)))
        parts.append(.content(entry, range))
      }
      parts.append(.text(Array("\r\n--\(boundary)--\r\n".utf8)))
      let body = PackBody(pack, parts)
      return answer(206, headers, length: body.length, body)
    }
  }

  private func selection(_ request: PackRequest, of entry: Entry, _ tag: EntityTag) -> RangeSelection {
    guard request.method == "GET", let range = request.headers["Range"] else { return .whole }
    // If the condition is a date or a weak tag, the whole file is sent (RFC 9110 §13.1.5).
    if let condition = request.headers["If-Range"], condition != tag.text { return .whole }
    return RangeSelection(range, size: entry.size)
  }

  private static func contentRange(_ range: Range<UInt64>, of entry: Entry) -> String {
    "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(entry.size)"
  }

  private func redirect(_ request: PackRequest, to place: String) -> PackResponse {
    // No character in `place` ends the attribute, but an ampersand could start a character reference.
    let address = place.split(separator: "&", omittingEmptySubsequences: false).joined(separator: "&amp;")
    let page = "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0; url=\(address)\">\n"
    let body = PackBody(pack, [.text(Array(page.utf8))])
    return answer(
      301, ["Location": place, "Content-Type": "text/html; charset=utf-8"], length: body.length, request.method == "HEAD" ? nil : body)
  }

  private func answer(_ status: Int, _ headers: HeaderFields = [:], length: UInt64? = 0, _ body: PackBody? = nil) -> PackResponse {
    var all = headers
    if let length { all.append("Content-Length", "\(length)") }
    all.fields += options.fields.fields
    return PackResponse(status: status, headers: all, body: body)
  }
}

extension PackResponder.Options {
  /// The fields of every response, whatever its status.
  package var fields: HeaderFields {
    var fields: HeaderFields = ["X-Content-Type-Options": "nosniff"]
    if isIsolated {
      fields.append("Cross-Origin-Opener-Policy", "same-origin")
      fields.append("Cross-Origin-Embedder-Policy", "require-corp")
      fields.append("Cross-Origin-Resource-Policy", "same-origin")
    }
    if let policy = contentSecurityPolicy { fields.append("Content-Security-Policy", policy) }
    return fields
  }
}
