public import PackFormat
import PackPayload
public import PackReading

/// Answers HTTP requests with the files of a pack: the same answers whoever sends them, a web view's scheme handler or a server.
///
/// A pure value over an open pack: it knows no sockets, no dates and no state of a client, and may be used from any number of threads.
///
/// - `GET` and `HEAD`; every other method is answered with 405.
/// - One representation per file, named by a strong entity tag, which is the beginning of its digest: the same bytes have the same tag in every version
///   and in every pack. There are no dates in a pack, so conditions with dates are passed over, and a range with one is not taken.
/// - Ranges as nginx has them, and as RFC 9110 §14 allows; see ``respond(to:)``.
public struct PackResponder: Sendable {
  /// What may be chosen about the answers.
  public struct Options: Sendable {
    /// The file that stands for a directory: `/` is answered with `/index.html`, `/en/` with `/en/index.html`.
    public var indexName = "index.html"
    /// The path in the pack of the page that answers for missing ones, in an application that routes by itself. It answers where the last component
    /// of the path has no extension, so that a missing image stays missing.
    public var fallback: String?
    /// Whether pages are isolated from other origins (COOP, COEP and CORP), which `SharedArrayBuffer` and threads in WebAssembly need. Isolated pages
    /// can load from elsewhere only what says that it may be.
    public var isIsolated = false
    /// The `Content-Security-Policy` of every answer.
    public var contentSecurityPolicy: String?
    /// The `Cache-Control` of every answer with content. Addresses stay the same from one version to the next, so unless told otherwise a cache has to ask
    /// each time, and gets a 304.
    public var cacheControl = "no-cache"
    /// The size of a file in bytes up to which its digest is checked when all of it is read. Every byte is authenticated by the tags in any case; the digest
    /// shows besides that the maker of the pack put the right bytes there, and takes about as long as everything else together.
    public var digestLimit = UInt64.max

    /// The usual choices: an index, no fallback, no isolation, no policy, caches that ask.
    public init() {}
  }

  private let pack: Pack
  private let options: Options
  /// Keeps what the pack belongs to in use.
  private let owner: (any AnyObject & Sendable)?

  /// - Parameters:
  ///   - pack: stays open as long as the responder, its responses or their readers are there.
  ///   - options: a programming error where a value holds a control character.
  public init(_ pack: Pack, options: Options = .init()) {
    self.init(pack, owner: nil, options: options)
  }

  /// - Parameter owner: what keeps the pack in use; it is kept as long as the responder is there.
  package init(_ pack: Pack, owner: (any AnyObject & Sendable)?, options: Options) {
    self.owner = owner
    for value in [options.contentSecurityPolicy ?? "", options.cacheControl] {
      precondition(value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }, "a header field cannot hold control characters")
    }
    self.pack = pack
    self.options = options
  }

  /// The answer to a request. Reads a block of the index or two, and blocks its thread for that.
  ///
  /// - 200 with all of a file; 206 with a range, or with several as `multipart/byteranges`; 416 where the file has none of the bytes, or where
  ///   the field is no list of ranges. A unit other than bytes, more than 16 ranges, and ranges larger than the file together yield the whole file.
  ///   `Range` counts for `GET` alone, and `If-Range` has to be the file's tag.
  /// - 304 where `If-None-Match` names the file, 412 where `If-Match` does not.
  /// - 301 from a directory that has an index to its name with a slash behind it, with a page that links there for clients that do not follow redirects.
  /// - 400 for a target that no careful client sends, 404 for what is not in the pack, 405 for another method.
  ///
  /// - Throws: the error of a damaged pack. A faulty request is answered with its status.
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
    // What is longer than that is in no pack.
    guard path.utf8.count <= Limits.pathLength, let entry = try pack.find(path), entry.kind == .file else { return nil }
    return entry
  }

  private static func hasExtension(_ path: String) -> Bool {
    path.utf8.split(separator: UInt8(ascii: "/")).last?.contains(UInt8(ascii: ".")) ?? false
  }

  /// Answers with a file, in the order of RFC 9110 §13.2.2.
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
      // A file that held its own digest could not be made.
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
    // A date, and a tag that is weak, are no reason to take a part (RFC 9110 §13.1.5).
    if let condition = request.headers["If-Range"], condition != tag.text { return .whole }
    return RangeSelection(range, size: entry.size)
  }

  private static func contentRange(_ range: Range<UInt64>, of entry: Entry) -> String {
    "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(entry.size)"
  }

  private func redirect(_ request: PackRequest, to place: String) -> PackResponse {
    // Nothing in the place ends the attribute, but an ampersand could begin a reference.
    let address = place.split(separator: "&", omittingEmptySubsequences: false).joined(separator: "&amp;")
    let page = "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0; url=\(address)\">\n"
    let body = PackBody(pack, [.text(Array(page.utf8))])
    return answer(
      301, ["Location": place, "Content-Type": "text/html; charset=utf-8"], length: body.length, request.method == "HEAD" ? nil : body)
  }

  private func answer(_ status: Int, _ headers: HeaderFields = [:], length: UInt64? = 0, _ body: PackBody? = nil) -> PackResponse {
    var all = headers
    if let length { all.append("Content-Length", "\(length)") }
    all.append("X-Content-Type-Options", "nosniff")
    if options.isIsolated {
      all.append("Cross-Origin-Opener-Policy", "same-origin")
      all.append("Cross-Origin-Embedder-Policy", "require-corp")
      all.append("Cross-Origin-Resource-Policy", "same-origin")
    }
    if let policy = options.contentSecurityPolicy { all.append("Content-Security-Policy", policy) }
    return PackResponse(status: status, headers: all, body: body)
  }
}
