/// A page with a script before its own that reports errors to the server.
enum WatchedPage {
  static let script = script(allowsWorkers: false)

  private static func script(allowsWorkers: Bool) -> [UInt8] {
    Array("<script src=\"/\(PlaytestPages.prefix)watch.js\(allowsWorkers ? "?workers" : "")\"></script>".utf8)
  }

  /// Adds the script to a reply, if it is a whole page in an encoding in which ASCII letters are themselves. Reads its first piece.
  ///
  /// - Returns: whether it is a whole page.
  /// - Throws: the error of reading the page.
  @discardableResult
  static func watch(_ reply: inout SiteReply, allowsWorkers: Bool = false) throws(PackError) -> Bool {
    guard reply.status == 200, let body = reply.body, reply.headers["Content-Type"]?.hasPrefix("text/html") == true else { return false }
    var page = try body.nextPiece() ?? []
    var length = body.length
    // In UTF-16, the script would be other characters.
    if !page.starts(with: [0xFE, 0xFF]), !page.starts(with: [0xFF, 0xFE]) {
      let script = script(allowsWorkers: allowsWorkers)
      page.insert(contentsOf: script, at: start(of: page))
      length += UInt64(script.count)
    }
    reply.body = HeldBody(page, before: body, length: length)
    reply.headers.fields.removeAll { ["content-length", "etag", "accept-ranges", "last-modified"].contains($0.name.lowercased()) }
    reply.headers.append("Content-Length", "\(length)")
    return true
  }

  /// Returns where the document begins: after its type, without which browsers show it as an old one.
  private static func start(of page: [UInt8]) -> Int {
    var index = page.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let first = index
    while index < page.count {
      let rest = page[index...]
      if [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains(page[index]) {
        index += 1
      } else if rest.starts(with: "<!--".utf8) {
        guard let end = rest.dropFirst(4).firstRange(of: "-->".utf8) else { return first }
        index = end.upperBound
      } else if rest.prefix(9).map({ $0 | 0x20 }).elementsEqual("<!doctype".utf8.map { $0 | 0x20 }),
        let end = rest.firstIndex(of: UInt8(ascii: ">"))
      {
        return end + 1
      } else {
        return first
      }
    }
    return first
  }
}
