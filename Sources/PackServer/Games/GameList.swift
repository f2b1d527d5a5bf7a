/// The page that lists the games that are served.
struct GameList {
  private let games: [Game]
  private let version: UInt64?
  private let port: String

  init(_ games: [Game], version: UInt64?, port: String) {
    self.games = games
    self.version = version
    self.port = port
  }

  var html: String {
    let prefix = PlaytestPages.prefix
    var page = """
      <!doctype html>
      <html lang="en">
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width">
      <title>Games</title>
      <link rel="icon" href="/\(prefix)icon.svg">
      <link rel="stylesheet" href="/\(prefix)playtest.css">
      <script src="/\(prefix)list.js" defer></script>
      <header>
      <h1>Games</h1>
      <label class="day"><input type="checkbox" id="day" disabled> As from the CDN on a bad day</label>
      <p>On a bad day, each file comes at 250 kB per second, one request in 20 fails, and one in 33 is cut in the middle. This shows what players \
      see of a game on the web. In an app, the pack is installed before, and its files need no network.</p>
      <p>Errors of scripts and requests to other hosts are reported in the phone view only.</p>
      <p id="status" role="status"></p>
      </header>
      <main>
      <ul class="games">

      """
    for game in games { page += item(game) }
    page += "</ul>\n"
    if games.contains(where: { $0.folder != nil }) { page += "<p class=\"foot\">Folders without index.html are not listed.</p>\n" }
    if let version { page += "<p class=\"foot\">Version \(version) of the manifest.</p>\n" }
    return page + "</main>\n"
  }

  private func item(_ game: Game) -> String {
    let origin = MarkupText.attribute(game.origin(port: port))
    let (title, id) = (MarkupText.attribute(game.title), MarkupText.attribute(game.id))
    var lines = "<li data-id=\"\(id)\">\n"
    lines += "<img src=\"/\(PlaytestPages.prefix)icon/\(id)\" alt=\"\" width=\"64\" height=\"64\" loading=\"lazy\">\n<div>\n<h2>"
    lines += game.hasPage ? "<a href=\"\(origin)/\">\(title)</a>" : title
    lines += "</h2>\n<p>\(facts(game).map(MarkupText.attribute).joined(separator: " · "))</p>\n"
    if game.hasPage {
      lines += "<p class=\"state\">not opened yet</p>\n</div>\n"
      lines +=
        "<a class=\"button\" href=\"\(origin)/\(PlaytestPages.prefix)phone\">Phone view<span class=\"hidden\"> of \(title)</span></a>\n"
    } else {
      lines += "<p class=\"state\">no index.html, so there is nothing to play: files for other packs, or for the app</p>\n</div>\n"
    }
    return lines + "</li>\n"
  }

  private func facts(_ game: Game) -> [String] {
    var facts: [String] = []
    let name = game.folder.flatMap { PathParts($0.directory)?.name } ?? game.id
    if game.title != name, name != "." { facts.append(name) }
    if let version = game.version { facts.append("version \(version)") }
    switch game.entry?.delivery {
    case .essential: facts.append("essential")
    case .prefetch: facts.append("prefetched")
    case .onDemand: facts.append("on demand")
    case nil: break
    }
    if let packSize = game.packSize { facts.append("\(ByteCount(packSize)) to download") }
    if let contentSize = game.contentSize, let count = game.fileCount {
      facts.append("\(ByteCount(contentSize)) in \(count) \(count == 1 ? "file" : "files")")
    }
    if let folder = game.folder { facts.append(measure(folder)) }
    return facts
  }

  /// The size of a folder, as far as its names are looked at.
  private func measure(_ folder: PlainFolder) -> String {
    var (count, size) = (0, 0 as UInt64)
    let isWhole = folder.forEachFile(below: PlainFolder.mostLevels, most: PlainFolder.mostNames / max(1, games.count)) { _, bytes in
      count += 1
      size = size.adding(bytes)
    }
    return "\(isWhole ? "" : "more than ")\(ByteCount(size)) in \(count) \(count == 1 ? "file" : "files"), not packed"
  }
}
