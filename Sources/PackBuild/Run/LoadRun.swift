/// What browsers loaded while `packer serve --record` served packs: the content of its file.
///
/// Memory: about 200 bytes and the path for each request, of which each pack has at most ``mostRequests``, and half of that for each unused file.
package struct LoadRun: Hashable, Sendable {
  /// One pack.
  package struct Pack: Hashable, Sendable {
    /// The name of the pack in the manifest, or one for a single file.
    package var id: String
    package var version: UInt64
    /// The digest of its tree, 32 bytes.
    package var contentRoot: [UInt8]
    /// The number of its files; nil if it was replaced while it was recorded.
    package var files: Int?
    /// The requests, in the order in which they came: the first ones, if there were more than ``LoadRun/mostRequests``.
    package var requests: [Request] = []
    /// The number of all requests.
    package var requestCount = 0
    /// The bytes of the bodies of all replies.
    package var sentSize: UInt64 = 0
    /// Paths that the pack does not have, in the order in which they were first asked for.
    package var missing: [Missing] = []
    /// Addresses on other hosts, in the order in which they were first asked for.
    package var foreign: [Foreign] = []
    /// What failed, in the order in which it first did.
    package var problems: [Problem] = []
    /// The time since the first request at which the game first said that it can be played, in milliseconds; nil if it did not.
    package var playable: UInt64?
    /// The files that were never asked for, in byte order; nil if it was replaced while it was recorded.
    package var unused: [File]?

    package init(id: String, version: UInt64, contentRoot: [UInt8]) {
      (self.id, self.version, self.contentRoot) = (id, version, contentRoot)
    }
  }

  /// A request for a path in the pack.
  package struct Request: Hashable, Sendable {
    /// The time since the first request, in milliseconds.
    package var milliseconds: UInt64
    /// The path, decoded and with the name of the index if it is a directory.
    package var path: String
    /// The HTTP status of the response.
    package var status: UInt64
    /// The bytes of its body.
    package var size: UInt64
    /// The field `Range` of the request, if it was for a part.
    package var range: String?

    package init(milliseconds: UInt64, path: String, status: UInt64, size: UInt64, range: String?) {
      (self.milliseconds, self.path, self.status, self.size, self.range) = (milliseconds, path, status, size, range)
    }
  }

  /// A path that the pack does not have.
  package struct Missing: Hashable, Sendable {
    package var path: String
    /// The path that was probably meant; nil if none is near.
    package var near: String?

    package init(path: String, near: String?) { (self.path, self.near) = (path, near) }
  }

  /// An address on another host.
  package struct Foreign: Hashable, Sendable {
    /// The address, as far as the browser says it: often only its origin.
    package var url: String
    /// What it was for, as in Content Security Policy: `img-src`, `connect-src` and so on.
    package var directive: String

    package init(url: String, directive: String) { (self.url, self.directive) = (url, directive) }
  }

  /// What failed in a page, or will fail in a web view.
  package struct Problem: Hashable, Sendable {
    /// The message of an error, or a sentence.
    package var text: String
    /// The file with line and column of a script's error, ``console`` for what a page wrote there; nil for what has no place.
    package var place: String?

    package init(_ text: String, place: String? = nil) { (self.text, self.place) = (text, place) }

    package static let console = "console"
    /// The place of what a browser does and a web view does not, unless the app helps.
    package static let phone = "phone"
    /// The place of what is no problem: the mark that says that the game can be played.
    package static let mark = "mark"

    /// The text with its place.
    package var sentence: String { printable(text.prefix { !$0.isNewline }.utf8) + (place.map { " (\(printable($0.utf8)))" } ?? "") }
  }

  /// A file of the pack.
  package struct File: Hashable, Sendable {
    package var path: String
    /// The length of the content in bytes.
    package var size: UInt64

    package init(path: String, size: UInt64) { (self.path, self.size) = (path, size) }
  }

  /// The packs, in the order of their first requests. Packs without requests are left out.
  package var packs: [Pack]

  /// The most requests that are kept for each pack.
  package static let mostRequests = 100_000
  /// The most missing paths, foreign addresses and problems that are kept of each pack.
  package static let mostNames = 1000

  package init(packs: [Pack] = []) { self.packs = packs }

  // MARK: The document

  private static let format: UInt64 = 1

  /// The bytes of the file. Equal values give equal bytes.
  package var document: [UInt8] {
    let packs = packs.map { JSON.Member(key: $0.id, value: $0.record) }
    return JSON.sorted(["format": .number(Self.format), "packs": .object(packs)]).document
  }

  /// Reads a file.
  ///
  /// - Throws: ``PackError/Code/missingInput``, ``PackError/Code/cannotRead``, or ``PackError/Code/invalidRecord`` if it is no recorded run.
  package static func read(_ path: String, files: any FileSystem = SystemFiles()) throws(PackError) -> LoadRun {
    do throws(PackError) {
      var root = try RecordFields(try RecordFile.read(path, files: files), path)
      let format = try root.number("format")
      guard format == Self.format else {
        throw PackError(.invalidRecord, of: path, "has format \(format), which this packer does not know")
      }
      guard case .object(let members) = try root.object("packs") else {
        throw PackError(.invalidRecord, "'packs' of \(path) is not an object")
      }
      let packs = try members.map { (member) throws(PackError) in try Pack(member.key, member.value, of: path) }
      try root.finish()
      return LoadRun(packs: packs)
    } catch {
      guard error.code == .invalidRecord else { throw error }
      throw error.advising(.developer("give a file that 'packer serve --record' wrote"))
    }
  }

  /// The largest file that is read, in bytes: that of hundreds of packs, unless all have most requests.
  package static let largestSize = RecordFile.largestSize
}

extension LoadRun.Pack {
  fileprivate var record: JSON {
    let problems = problems.map { problem -> JSON in
      .sorted(["place": problem.place.map { .text($0) }, "text": .text(problem.text)])
    }
    let foreign = foreign.map { JSON.sorted(["directive": .text($0.directive), "url": .text($0.url)]) }
    let missing = missing.map { JSON.sorted(["near": $0.near.map { .text($0) }, "path": .text($0.path)]) }
    let requests = requests.map { request -> JSON in
      .sorted([
        "milliseconds": .number(request.milliseconds), "path": .text(request.path), "range": request.range.map { .text($0) },
        "size": .number(request.size), "status": .number(request.status),
      ])
    }
    return .sorted([
      "contentRoot": .text(contentRoot.hex), "files": files.map { .number(UInt64($0)) }, "foreign": .list(foreign),
      "missing": .list(missing), "playable": .number(playable), "problems": .list(problems), "requestCount": .number(UInt64(requestCount)),
      "sentSize": .number(sentSize),
      "requests": .list(requests), "unused": unused.map { .list($0.map { .sorted(["path": .text($0.path), "size": .number($0.size)]) }) },
      "version": .number(version),
    ])
  }

  fileprivate init(_ id: String, _ value: JSON, of path: String) throws(PackError) {
    var fields = try RecordFields(value, "pack '\(id)' of \(path)")
    self.init(id: id, version: try fields.number("version"), contentRoot: try fields.bytes("contentRoot", count: 32))
    files = fields.has("files") ? Int(clamping: try fields.number("files")) : nil
    requestCount = Int(clamping: try fields.number("requestCount"))
    sentSize = try fields.number("sentSize")
    requests = try fields.list("requests").map { (value) throws(PackError) in
      var fields = try RecordFields(value, "a request")
      return LoadRun.Request(
        milliseconds: try fields.number("milliseconds"), path: try fields.text("path"), status: try fields.number("status"),
        size: try fields.number("size"), range: fields.has("range") ? try fields.text("range") : nil)
    }
    missing = try fields.list("missing").map { (value) throws(PackError) in
      var fields = try RecordFields(value, "a missing file")
      return LoadRun.Missing(path: try fields.text("path"), near: fields.has("near") ? try fields.text("near") : nil)
    }
    foreign = try fields.list("foreign").map { (value) throws(PackError) in
      var fields = try RecordFields(value, "a foreign address")
      return LoadRun.Foreign(url: try fields.text("url"), directive: try fields.text("directive"))
    }
    if fields.has("playable") { playable = try fields.number("playable") }
    if fields.has("problems") {
      problems = try fields.list("problems").map { (value) throws(PackError) in
        var fields = try RecordFields(value, "a problem")
        return LoadRun.Problem(try fields.text("text"), place: fields.has("place") ? try fields.text("place") : nil)
      }
    }
    if fields.has("unused") {
      unused = try fields.list("unused").map { (value) throws(PackError) in
        var fields = try RecordFields(value, "a file")
        return LoadRun.File(path: try fields.text("path"), size: try fields.number("size"))
      }
    }
    try fields.finish()
  }
}

extension LoadRun.Pack {
  /// What browsers asked for, without the requests. Sizes are in bytes.
  package func json(of file: String) -> JSON {
    [
      "type": "recorded", "file": .text(file), "pack": .text(id), "requests": .number(requestCount), "sentSize": .number(sentSize),
      "missing": .number(missing.count), "foreign": .number(foreign.count),
      "problems": .number(problems.count), "files": .number(files), "unused": .number(unused?.count),
      "unusedSize": .number(unused.map { unused in unused.reduce(0 as UInt64) { $0.adding($1.size) } }),
    ]
  }
}
