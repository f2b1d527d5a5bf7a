import PackFormat

/// The page that lists the games of a release.
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
    var page = """
      <!doctype html>
      <html lang="en">
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width">
      <title>Games</title>
      <style>
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 40em; margin: 2em auto; padding: 0 1em; color-scheme: light dark }
        li { margin: .4em 0 } small { opacity: .7 }
      </style>
      <h1>Games</h1>
      <ul>

      """
    for game in games {
      let title = Self.escaped(game.name ?? game.id)
      let facts = "version \(game.version), \(ByteCount(game.packSize)) encrypted, \(ByteCount(game.contentSize)) of files"
      page += "<li><a href=\"\(Self.escaped(game.origin(port: port)))/\">\(title)</a> <small>\(facts)</small>\n"
    }
    page += "</ul>\n"
    if let version { page += "<p><small>Version \(version) of the manifest.</small>\n" }
    return page
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
