/// The pages for people who try games, below one path of every origin: the list of the games, each game in the view of a phone, and what both ask for.
final class PlaytestPages: Sendable {
  /// The path below which nothing is a game's own (RFC 8615).
  static let prefix = ".well-known/packer/"

  let log = PlaytestLog()
  /// The bad day of all games, and those of games that have one of their own.
  private let badDay = BadDay()
  private let ownDays = Monitor<[String: BadDay]>([:])
  /// Whether there is only one game, and no list.
  private let isSingle: Bool
  private let options: PackResponder.Options

  init(isSingle: Bool, options: PackResponder.Options) { (self.isSingle, self.options) = (isSingle, options) }

  /// The fields of pages that load only what is their own.
  private static func fields(_ policy: String) -> HeaderFields {
    ["Cache-Control": "no-store", "Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff"]
  }

  private static let ownPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'"

  /// Returns the bad day of a game; that of all for the list.
  func day(of game: Game?) -> BadDay { game.flatMap { game in ownDays.withLock { $0[game.id] } } ?? badDay }

  /// A page of a game can send that request, so it is only about that game.
  private func turnDay(on: Bool, for game: Game?) {
    guard let game else {
      ownDays.withLock { $0 = [:] }
      return badDay.turn(on: on)
    }
    let day = BadDay()
    day.turn(on: on)
    ownDays.withLock { $0[game.id] = day }
  }

  // MARK: On every origin

  /// Returns the reply to a request below ``prefix``; nil if nothing is there.
  ///
  /// - Parameters:
  ///   - name: the path after the prefix.
  ///   - game: the game whose origin it is; nil for the list's.
  ///   - port: the port of the server with its colon.
  func reply(_ name: String, _ request: PackRequest, in game: Game?, port: String) -> SiteReply? {
    let isHead = request.method == "HEAD"
    if request.method == "POST" {
      guard name == "day" else { return nil }
      turnDay(on: RequestTarget(request.target)?.query == "?bad", for: game)
      return .text(204, "", isHead: true)
    }
    guard isHead || request.method == "GET" else { return .text(405, "", headers: ["Allow": "GET, HEAD"], isHead: isHead) }
    func resource(_ bytes: [UInt8], _ type: String) -> SiteReply {
      var fields: HeaderFields = ["Cache-Control": "no-store"]
      fields.fields += options.fields.fields.filter { $0.name != "Content-Security-Policy" }
      return .text(200, String(decoding: bytes, as: UTF8.self), type: type, headers: fields, isHead: isHead)
    }
    switch name {
    case "playtest.css": return resource(PackageResources.playtest_css, "text/css; charset=utf-8")
    case "list.js": return resource(PackageResources.list_js, "text/javascript; charset=utf-8")
    case "phone.js": return resource(PackageResources.phone_js, "text/javascript; charset=utf-8")
    case "watch.js": return resource(PackageResources.watch_js, "text/javascript; charset=utf-8")
    case "icon.svg": return icon(game?.title ?? "Games", isHead: isHead)
    case "live": return live(request, game, port: port)
    case "phone" where game != nil:
      var reply = resource(PackageResources.phone_html, "text/html; charset=utf-8")
      reply.headers.append("Content-Security-Policy", "\(Self.ownPolicy); frame-ancestors 'none'")
      return reply
    default: return nil
    }
  }

  private func live(_ request: PackRequest, _ game: Game?, port: String) -> SiteReply {
    var members: [String: JSON?] = [
      "badDay": .flag(day(of: game).isOn), "rate": .number(BadDay.bytesPerSecond),
    ]
    if let game {
      let since = RequestTarget(request.target)?.query.flatMap { $0.hasPrefix("?since=") ? Int($0.dropFirst(7)) : nil }
      members.merge(log.news(of: game.id, since: since)) { _, new in new }
      members["title"] = .text(game.title)
      members["packSize"] = JSON.number(game.packSize)
      if !isSingle { members["list"] = .text("http://127.0.0.1\(port)/") }
    } else {
      members["games"] = log.summary()
    }
    return .text(
      200, JSON.sorted(members).line, type: "application/json", headers: Self.fields("default-src 'none'"),
      isHead: request.method == "HEAD")
  }

  // MARK: On the list's origin

  func list(_ shelf: Shelf, port: String, isHead: Bool) -> SiteReply {
    .text(
      200, GameList(shelf.games, version: shelf.version, port: port).html, type: "text/html; charset=utf-8",
      headers: Self.fields(Self.ownPolicy),
      isHead: isHead)
  }

  /// Returns an icon for what has none: the first letter of its title, in a colour that follows from it.
  func icon(_ title: String, isHead: Bool) -> SiteReply {
    let letter = title.first { $0.isLetter || $0.isNumber }.map { String($0).uppercased() } ?? "?"
    let hue = title.utf8.reduce(0 as UInt32) { ($0 &* 31 &+ UInt32($1)) } % 360
    let picture = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" fill="hsl(\(hue) 45% 40%)"/>\
      <text x="32" y="44" text-anchor="middle" font-family="system-ui, sans-serif" font-size="34" fill="#fff">\(MarkupText.attribute(letter))</text></svg>
      """
    return .text(200, picture, type: "image/svg+xml", headers: Self.fields("default-src 'none'"), isHead: isHead)
  }

  // MARK: Pages that explain themselves

  /// Whether a browser shows the reply to a person. Everything else gets plain text.
  static func isPage(_ request: PackRequest) -> Bool {
    if let destination = request.headers["Sec-Fetch-Dest"] { return ["document", "iframe", "frame"].contains(destination) }
    return request.headers["Accept"]?.contains("text/html") == true
  }

  /// Returns the page for an address at which nothing is.
  ///
  /// - Parameters:
  ///   - text: what is not there, as a sentence.
  ///   - advice: sentences on what to do.
  ///   - links: addresses and their texts, with a heading.
  ///   - headers: other fields, such as those without which an isolated page does not show it in a frame.
  static func missing(
    _ text: String, advice: [String], links: (heading: String, all: [(address: String, text: String)]), headers: HeaderFields = [:],
    isHead: Bool
  ) -> SiteReply {
    var page = """
      <!doctype html>
      <html lang="en">
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width">
      <title>Not found</title>
      <link rel="icon" href="/\(prefix)icon.svg">
      <link rel="stylesheet" href="/\(prefix)playtest.css">
      <main class="text">
      <h1>Not found</h1>
      <p>\(MarkupText.attribute(text))</p>

      """
    for sentence in advice { page += "<p>\(MarkupText.attribute(sentence))</p>\n" }
    if !links.all.isEmpty {
      page += "<h2>\(MarkupText.attribute(links.heading))</h2>\n<ul>\n"
      for link in links.all { page += "<li><a href=\"\(MarkupText.attribute(link.address))\">\(MarkupText.attribute(link.text))</a>\n" }
      page += "</ul>\n"
    }
    page += "</main>\n"
    var all = fields(ownPolicy)
    all.fields += headers.fields.filter { all[$0.name] == nil }
    return .text(404, page, type: "text/html; charset=utf-8", headers: all, isHead: isHead)
  }
}
