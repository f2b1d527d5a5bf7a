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
    /// Whether pages are isolated from other origins (COOP, COEP and CORP), which `SharedArrayBuffer` and threads in WebAssembly need in browsers.
    /// Isolated pages can load resources from other origins only if these allow it. A web view has neither, whatever this says: WebKit isolates pages
    /// that its own network process has loaded, not those of an app's scheme.
    public var isIsolated = false
    /// The origins whose pages may read the files with `fetch`, as module scripts, as fonts and as textures (CORS): `pack://arcade`,
    /// `capacitor://localhost`, `https://example.com`. None by default. Cookies are never asked for.
    ///
    /// An origin is a scheme, a host and perhaps a port, in lower case as browsers send it. Anything else is a programming error, also `*` and `null`:
    /// sandboxed frames of any site have the origin `null`, as pages of `file://` have. Serve such a page from a scheme of the app's own instead.
    public var allowedOrigins: Set<String> = []
    /// The pages that may embed the files without reading them, such as images and classic scripts. If nil, ``ResourcePolicy/sameOrigin`` where
    /// pages are isolated, and what the web view allows where they are not.
    public var resourcePolicy: ResourcePolicy?
    /// The `Content-Security-Policy` of every response.
    public var contentSecurityPolicy: String?
    /// The `Cache-Control` of every response with content. Addresses stay the same across versions, so by default a cache must revalidate each time,
    /// and gets a 304.
    public var cacheControl = "no-cache"
    /// The maximum size in bytes of a file whose digest is checked when the whole file is read. Every byte is authenticated by the tags in any case.
    /// The digest additionally proves that the pack's maker put the right bytes there. Checking it takes about as long as everything else together.
    public var digestLimit = UInt64.max

    /// Creates the default options: an index, no fallback, no isolation, no other origins, no policy, and caches that revalidate.
    public init() {}
  }

  /// The pages that may embed a file (`Cross-Origin-Resource-Policy`).
  public enum ResourcePolicy: String, Sendable {
    /// Pages of the same origin: of the same pack.
    case sameOrigin = "same-origin"
    /// All pages, as those of another pack that are isolated need it. In a browser these are the pages of all sites.
    case crossOrigin = "cross-origin"
  }

  /// A pack and the directory of the addresses at which its files are.
  private struct Mount: Sendable {
    /// Empty, or with a slash at its end.
    let directory: String
    let pack: Pack
    /// An object to keep alive, because the pack belongs to it.
    let owner: (any AnyObject & Sendable)?
  }

  /// Those of the longest directories first; the last one is the pack itself.
  private var mounts: [Mount]
  private let options: Options

  /// Creates a responder.
  ///
  /// - Parameters:
  ///   - pack: a pack. It stays open as long as the responder, its responses or their readers exist.
  ///   - options: the options. A value with a control character is a programming error, and so is an origin that is none.
  public init(_ pack: Pack, options: Options = .init()) {
    self.init(pack, owner: nil, options: options)
  }

  /// - Parameter owner: an object to keep alive as long as the responder, because the pack belongs to it.
  package init(_ pack: Pack, owner: (any AnyObject & Sendable)?, options: Options) {
    precondition(options.areValid, "a field has control characters, or an origin is not a scheme and a host in lower case, without a path")
    mounts = [Mount(directory: "", pack: pack, owner: owner)]
    self.options = options
  }

  /// Returns a responder that has the files of another pack in a directory, under the same origin: one engine for many games, which loads without CORS
  /// and shares the saved data of the game's page.
  ///
  /// The options stay those of this responder. Files of this pack in the directory are hidden. What the other responder has mounted is mounted, too.
  ///
  /// - Parameters:
  ///   - other: the responder of the other pack, which stays open as long as the result.
  ///   - directory: a path such as `engine`. A path that no pack can contain is a programming error.
  public func mounting(_ other: PackResponder, at directory: String) -> PackResponder {
    let path = Array(directory.utf8)
    precondition(EntryPath.securityProblem(of: path.byteSpan) == nil, "'\(directory)' is no path of a directory")
    var all = self
    for mount in other.mounts {
      let place = "\(directory)/\(mount.directory)"
      all.mounts.removeAll { $0.directory == place }
      all.mounts.append(Mount(directory: place, pack: mount.pack, owner: mount.owner))
    }
    all.mounts.sort { $0.directory.utf8.count > $1.directory.utf8.count }
    return all
  }

  /// Returns the response to a request. Blocks its thread while it reads one or two blocks of the index, and the start of a text, to know its encoding.
  ///
  /// - 200 with a whole file; 206 with a range, or with several ranges as `multipart/byteranges`; 416 if the file has none of the bytes, or if the
  ///   field is not a valid list of ranges. The response is the whole file if the unit is not bytes, if there are more than 16 ranges, or if the
  ///   ranges together are larger than the file. `Range` is used only for `GET`, and only if `If-Range` is absent or is the file's tag.
  /// - 304 if `If-None-Match` lists the file's tag, 412 if `If-Match` does not.
  /// - 200 with a page that leads to the same path with a slash at its end, for a directory that has an index. WebKit follows no redirects here.
  /// - 204 if an allowed origin asks whether it may send a request (a preflight).
  /// - 400 for an invalid target, 404 for a file that is not in the pack, 405 for another method.
  ///
  /// - Throws: the error of a damaged pack. An invalid request does not throw; it gets the status above.
  public func respond(to request: PackRequest) throws(PackError) -> PackResponse {
    guard !options.allowedOrigins.isEmpty else { return try answer(request) }
    // A cache must not hand the response for one origin to another, nor one without the field to an origin that is allowed.
    var sharing: HeaderFields = ["Vary": "Origin"]
    guard let origin = request.headers["Origin"], options.allowedOrigins.contains(origin) else {
      let response = try answer(request)
      return PackResponse(status: response.status, headers: HeaderFields(response.headers.fields + sharing.fields), body: response.body)
    }
    sharing.append("Access-Control-Allow-Origin", origin)
    if request.method == "OPTIONS", request.headers["Access-Control-Request-Method"] != nil {
      sharing.fields += Self.preflight.fields
      return answer(204, sharing, length: nil)
    }
    sharing.fields += Self.exposure.fields
    let response = try answer(request)
    return PackResponse(status: response.status, headers: HeaderFields(response.headers.fields + sharing.fields), body: response.body)
  }

  /// What a browser may ask for, on behalf of a page of another origin.
  package static let preflight: HeaderFields = [
    "Access-Control-Allow-Methods": "GET, HEAD", "Access-Control-Allow-Headers": "If-Match, If-None-Match, If-Range, Range",
  ]
  /// The fields that such a page can read, besides those that every page can.
  package static let exposure: HeaderFields = ["Access-Control-Expose-Headers": "Accept-Ranges, Content-Length, Content-Range, ETag"]

  private func answer(_ request: PackRequest) throws(PackError) -> PackResponse {
    guard request.method == "GET" || request.method == "HEAD" else {
      return answer(405, ["Allow": "GET, HEAD"])
    }
    guard let target = RequestTarget(request.target) else { return answer(400) }
    if let found = try file(target.isDirectory ? target.path + options.indexName : target.path) {
      return try deliver(found.entry, of: found.pack, to: request)
    }
    if !target.isDirectory, try file("\(target.path)/\(options.indexName)") != nil {
      return redirect(request, into: target)
    }
    if let fallback = options.fallback, !Self.hasExtension(target.path), let found = try file(fallback) {
      return try deliver(found.entry, of: found.pack, to: request)
    }
    return answer(404)
  }

  private func file(_ path: String) throws(PackError) -> (entry: Entry, pack: Pack)? {
    for mount in mounts where path.utf8.starts(with: mount.directory.utf8) {
      let path = String(path.utf8.dropFirst(mount.directory.utf8.count)) ?? ""
      // No pack has a longer path.
      guard path.utf8.count <= Limits.pathLength, let entry = try mount.pack.find(path), entry.kind == .file else { return nil }
      return (entry, mount.pack)
    }
    return nil
  }

  /// Whether a text is the origin of pages as a browser sends it, and one that not everybody can have.
  fileprivate static func isOrigin(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    func isPlain(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0, bytes[colon...].starts(with: "://".utf8) else { return false }
    let host = bytes[(colon + 3)...]
    // A browser leaves out the port that is the usual one.
    guard !(text.hasPrefix("https:") && text.hasSuffix(":443")), !(text.hasPrefix("http:") && text.hasSuffix(":80")) else { return false }
    return bytes[..<colon].allSatisfy { isPlain($0) || "+-.".utf8.contains($0) }
      && !host.isEmpty && host.allSatisfy { isPlain($0) || "-._:[]".utf8.contains($0) }
  }

  /// Whether the last component of a path has an extension.
  package static func hasExtension(_ path: String) -> Bool {
    path.utf8.split(separator: UInt8(ascii: "/")).last?.contains(UInt8(ascii: ".")) ?? false
  }

  /// Responds with a file, in the order of RFC 9110 §13.2.2.
  private func deliver(_ entry: Entry, of pack: Pack, to request: PackRequest) throws(PackError) -> PackResponse {
    let tag = EntityTag(entry)
    let validators: HeaderFields = ["ETag": tag.text, "Cache-Control": options.cacheControl]
    if let wanted = request.headers["If-Match"], !tag.isListed(in: wanted, isWeak: false) {
      return answer(412)
    }
    if let known = request.headers["If-None-Match"], tag.isListed(in: known, isWeak: true) {
      return answer(304, validators, length: nil)
    }
    let (type, decryptedBytes) = try Self.type(of: entry, in: pack)
    var headers = HeaderFields()
    headers.append("Accept-Ranges", "bytes")
    headers.fields += validators.fields
    switch selection(request, of: entry, tag) {
    case .whole:
      headers.append("Content-Type", type)
      let body = PackBody(
        pack, entry.size == 0 ? [] : [.content(entry, 0..<entry.size)], digestLimit: options.digestLimit, decryptedBytes: decryptedBytes)
      return answer(200, headers, length: body.length, request.method == "HEAD" ? nil : body)
    case .unsatisfiable:
      return answer(416, ["Content-Range": "bytes */\(entry.size)"])
    case .parts(let ranges) where ranges.count == 1:
      headers.append("Content-Type", type)
      headers.append("Content-Range", Self.contentRange(ranges[0], of: entry))
      let body = PackBody(pack, [.content(entry, ranges[0])], decryptedBytes: decryptedBytes)
      return answer(206, headers, length: body.length, body)
    case .parts(let ranges):
      // No file can contain its own digest, so the boundary is not in the content.
      let boundary = entry.sha256.hex
      headers.append("Content-Type", "multipart/byteranges; boundary=\(boundary)")
      var parts: [PackBody.Part] = []
      for range in ranges {
        let head = "Content-Type: \(type)\r\nContent-Range: \(Self.contentRange(range, of: entry))"
        parts.append(.text(Array("\r\n--\(boundary)\r\n\(head)\r\n\r\n".utf8)))
        parts.append(.content(entry, range))
      }
      parts.append(.text(Array("\r\n--\(boundary)--\r\n".utf8)))
      let body = PackBody(pack, parts, decryptedBytes: decryptedBytes)
      return answer(206, headers, length: body.length, body)
    }
  }

  /// Returns the media type of a file, and the number of bytes decrypted to find it: the start of a text, whose frame stays in memory for its body.
  private static func type(of entry: Entry, in pack: Pack) throws(PackError) -> (String, decryptedBytes: UInt64) {
    let media = MediaType(path: entry.path)
    guard media.isText, entry.size > 0 else { return (media.type, 0) }
    var (start, decryptedBytes) = ([UInt8](), 0 as UInt64)
    let end = min(entry.size, UInt64(MediaType.examined))
    while start.count < end {
      try pack.withPiece(of: entry, UInt64(start.count)..<end, decryptedBytes: &decryptedBytes) { start.append(copying: $0) }
    }
    return (media.type(ofText: start, size: entry.size), decryptedBytes)
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

  private func redirect(_ request: PackRequest, into directory: RequestTarget) -> PackResponse {
    let body = PackBody(mounts[mounts.count - 1].pack, [.text(Array(Self.pageLeading(into: directory).utf8))])
    return answer(200, ["Content-Type": "text/html; charset=utf-8"], length: body.length, request.method == "HEAD" ? nil : body)
  }

  /// Returns a page that leads to the same path with a slash at its end, in place of a redirect. WebKit follows none of an app's own scheme, and a
  /// server that sent one would show games that a device does not. Its address is relative, because a player has its games below a path of its own.
  package static func pageLeading(into directory: RequestTarget) -> String {
    let name = directory.path.split(separator: "/").last.map(String.init) ?? ""
    let place = "./\(RequestTarget.encoded(name))/\(directory.query ?? "")"
    // No character in `place` ends the attribute, but an ampersand could start a character reference.
    let address = place.split(separator: "&", omittingEmptySubsequences: false).joined(separator: "&amp;")
    return "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0; url=\(address)\">\n"
  }

  private func answer(_ status: Int, _ headers: HeaderFields = [:], length: UInt64? = 0, _ body: PackBody? = nil) -> PackResponse {
    var all = headers
    if let length { all.append("Content-Length", "\(length)") }
    all.fields += options.fields.fields
    return PackResponse(status: status, headers: all, body: body)
  }
}

extension PackResponder.Options {
  /// Whether every value can be sent, and every origin is one.
  package var areValid: Bool {
    [contentSecurityPolicy ?? "", cacheControl].allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
      && allowedOrigins.allSatisfy(PackResponder.isOrigin)
  }

  /// The fields of every response, whatever its status.
  package var fields: HeaderFields {
    var fields: HeaderFields = ["X-Content-Type-Options": "nosniff"]
    if isIsolated {
      fields.append("Cross-Origin-Opener-Policy", "same-origin")
      fields.append("Cross-Origin-Embedder-Policy", "require-corp")
    }
    if let policy = resourcePolicy ?? (isIsolated ? .sameOrigin : nil) { fields.append("Cross-Origin-Resource-Policy", policy.rawValue) }
    if let policy = contentSecurityPolicy { fields.append("Content-Security-Policy", policy) }
    return fields
  }
}
