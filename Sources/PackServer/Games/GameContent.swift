/// The files of a game: those of a pack, or those of a folder.
enum GameContent: Sendable {
  case pack(Pack)
  case folder(PlainFolder)

  /// The pack; nil for a folder.
  var pack: Pack? { if case .pack(let pack) = self { pack } else { nil } }

  /// Returns the reply to a request. Folders get the replies that packs get, but with dates, and one range at most.
  ///
  /// - Throws: the error of a damaged pack or of a file that cannot be read.
  func respond(to request: PackRequest, _ options: PackResponder.Options) throws(PackError) -> SiteReply {
    switch self {
    case .pack(let pack): SiteReply(try PackResponder(pack, options: options).respond(to: request))
    case .folder(let folder): try folder.respond(to: request, options)
    }
  }

  /// Whether a path is that of a file.
  func hasFile(_ path: String) throws(PackError) -> Bool {
    // No pack has a longer path.
    guard path.utf8.count <= Limits.pathLength else { return false }
    switch self {
    case .pack(let pack): return try pack.find(path)?.kind == .file
    case .folder(let folder): return try folder.open(path) != nil
    }
  }

  /// Calls a function with the path of each file. For folders, these are at most some thousand.
  func forEachPath(_ body: (String) -> Void) throws(PackError) {
    switch self {
    case .pack(let pack): try pack.forEachEntry { entry in if entry.kind == .file { body(entry.path) } }
    case .folder(let folder): folder.forEachFile(below: PlainFolder.mostLevels, most: PlainFolder.mostNames) { path, _ in body(path) }
    }
  }

  /// Returns the bytes of a file; nil if there is none, or if it is larger than `limit` bytes.
  func bytes(of path: String, limit: UInt64) throws(PackError) -> [UInt8]? {
    guard path.utf8.count <= Limits.pathLength else { return nil }
    switch self {
    case .pack(let pack):
      guard let entry = try pack.find(path), entry.kind == .file, entry.size <= limit else { return nil }
      return try pack.read(path)
    case .folder(let folder):
      guard let file = try folder.open(path), file.size <= limit, file.secret(path) == nil else { return nil }
      return try file.bytes()
    }
  }
}

extension PlainFolder {
  /// How deep folders are searched, and how many names are looked at.
  static let mostLevels = 32
  static let mostNames = 50_000

  /// Returns the reply to a request for a file of a game, as ``PackResponder/respond(to:)`` does.
  fileprivate func respond(to request: PackRequest, _ options: PackResponder.Options) throws(PackError) -> SiteReply {
    let isHead = request.method == "HEAD"
    guard isHead || request.method == "GET" else { return .text(405, "", headers: ["Allow": "GET, HEAD"], isHead: isHead) }
    guard let target = RequestTarget(request.target) else { return .text(400, "The request target is not a valid path.\n", isHead: isHead) }
    var reply: SiteReply
    if let file = try open(target.isDirectory ? target.path + options.indexName : target.path) {
      reply = deliver(file, request)
    } else if !target.isDirectory, try open("\(target.path)/\(options.indexName)") != nil {
      reply = .text(200, PackResponder.pageLeading(into: target), type: "text/html; charset=utf-8", isHead: isHead)
    } else if let fallback = options.fallback, !PackResponder.hasExtension(target.path), let file = try open(fallback) {
      reply = deliver(file, request)
    } else {
      reply = .text(404, "", isHead: isHead)
    }
    reply.headers.append("Cache-Control", options.cacheControl)
    reply.headers.fields += options.fields.fields
    return reply
  }

  private func deliver(_ file: PlainFile, _ request: PackRequest) -> SiteReply {
    let name = file.place.split(separator: "/").last.map(String.init) ?? ""
    // A player has the key in it for everybody, and only this machine is served.
    if name != WebPlayer.configuration, let reason = file.secret(name) {
      var reply = SiteReply.text(403, "This file \(reason), so it is not served.\n", isHead: request.method == "HEAD")
      reply.note = reason
      return reply
    }
    return deliver(file, to: request, FaultPlan())
  }
}
