/// Records what browsers load from a ``GameSite``.
package final class LoadRecorder: Sendable {
  /// What was recorded of one game.
  private struct Game {
    var pack: LoadRun.Pack
    /// The paths of its files that were asked for.
    var used: Set<String> = []
    var knownMissing: Set<String> = []
    var knownForeign: Set<LoadRun.Foreign> = []
    var knownProblems: Set<LoadRun.Problem> = []
    /// Whether a page was sent that loads the script which reports errors, and whether it was loaded.
    var isWatched = false
    var isReporting = false

    mutating func note(_ request: LoadRun.Request, file: String, near: String?) {
      pack.requestCount += 1
      pack.sentSize = pack.sentSize.adding(request.size)
      if pack.requests.count < LoadRun.mostRequests { pack.requests.append(request) }
      // A service worker that is not allowed was asked for all the same.
      if request.status < 400 || request.status == 403 {
        if used.count < Limits.records { used.insert(file) }
      } else if request.status == 404, request.path != "favicon.ico", knownMissing.count < LoadRun.mostNames {
        // Browsers ask for that icon by themselves.
        if knownMissing.insert(request.path).inserted { pack.missing.append(LoadRun.Missing(path: request.path, near: near)) }
      }
    }

    mutating func note(_ problem: LoadRun.Problem) {
      guard knownProblems.count < LoadRun.mostNames, knownProblems.insert(problem).inserted else { return }
      pack.problems.append(problem)
    }

    mutating func note(_ foreign: LoadRun.Foreign) {
      guard knownForeign.count < LoadRun.mostNames, knownForeign.insert(foreign).inserted else { return }
      pack.foreign.append(foreign)
    }
  }

  private struct State {
    var start: ContinuousClock.Instant?
    var games: [String: Game] = [:]
    /// The ids in the order in which they were first asked for.
    var order: [String] = []
  }

  private let state = Monitor(State())
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameter now: returns the current time.
  package init(now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }) { self.now = now }

  // MARK: Recording

  /// Records the reply to a request for a game.
  ///
  /// - Parameters:
  ///   - path: the path that was asked for.
  ///   - file: the path of the file in the pack that the reply has, if there is one.
  ///   - near: for a path that the pack does not have, the one that was probably meant.
  func note(
    _ request: PackRequest, for game: PackServer.Game, _ pack: Pack, path: String, file: String, _ reply: SiteReply, near: String?
  ) {
    let time = now()
    let path = Self.shortened(path, Limits.pathLength)
    let range = reply.status == 206 ? request.headers["Range"].map { Self.shortened($0, Self.longestRange) } : nil
    state.withLock { state in
      let start = state.start ?? time
      state.start = start
      let noted = LoadRun.Request(
        milliseconds: (time - start).microseconds / 1000, path: path, status: UInt64(reply.status), size: reply.body?.length ?? 0,
        range: range)
      if state.games[game.id] == nil { state.order.append(game.id) }
      // A new version is served from now on.
      if state.games[game.id]?.pack.contentRoot != pack.contentRoot {
        state.games[game.id] = Game(pack: LoadRun.Pack(id: game.id, version: pack.header.packVersion, contentRoot: pack.contentRoot))
      }
      // In its place, because a copy of what was recorded so far would take longer with each request.
      state.games[game.id]?.note(noted, file: file, near: near)
    }
  }

  /// Reads a report of a browser that a page asked for an address on another host.
  ///
  /// - Parameters:
  ///   - body: a report of Content Security Policy (CSP3 §5.3).
  ///   - host: the host and port of the game's origin.
  /// - Returns: nil for other bodies, and for reports that are about no other host.
  static func foreign(in body: [UInt8], at host: String) -> LoadRun.Foreign? {
    guard case .object(let members) = try? JSON(parsing: body), let report = members.first(where: { $0.key == "csp-report" })?.value,
      case .object(let fields) = report
    else { return nil }
    func text(_ key: String) -> String? {
      if case .text(let text) = fields.first(where: { $0.key == key })?.value { text } else { nil }
    }
    guard let url = text("blocked-uri"), let address = Self.foreign(url, to: host) else { return nil }
    let directive = text("effective-directive") ?? text("violated-directive") ?? ""
    return LoadRun.Foreign(url: address, directive: String(directive.prefix { $0 != " " }.prefix(40)))
  }

  /// Records what a page of a game asked for on another host.
  func take(_ foreign: LoadRun.Foreign, of id: String) { state.withLock { $0.games[id]?.note(foreign) } }

  /// Records that a game can be played now.
  func notePlayable(_ id: String) {
    let time = now()
    state.withLock { state in
      guard let start = state.start, let pack = state.games[id]?.pack, pack.playable == nil else { return }
      state.games[id]?.pack.playable = (time - start).microseconds / 1000
    }
  }

  /// Records what failed in a game.
  func take(_ problem: LoadRun.Problem, of id: String) {
    let problem = LoadRun.Problem(
      Self.shortened(problem.text, Self.longestText), place: problem.place.map { Self.shortened($0, Self.longestText) })
    state.withLock { $0.games[id]?.note(problem) }
  }

  /// Records that a page of a game was sent with the script that reports errors, or that the script was loaded.
  func noteWatching(_ id: String, isReporting: Bool) {
    state.withLock { state in
      if isReporting { state.games[id]?.isReporting = true } else { state.games[id]?.isWatched = true }
    }
  }

  /// Returns the address without its query, which may have secrets and differ each time; nil if it is not one of the network, or of the game itself.
  private static func foreign(_ url: String, to host: String) -> String? {
    let address = url.prefix { $0 != "?" && $0 != "#" }
    guard address.utf8.count <= longestAddress, let mark = address.firstRange(of: "://"),
      ["http", "https", "ws", "wss"].contains(address[..<mark.lowerBound].lowercased())
    else { return nil }
    return address[mark.upperBound...].prefix { $0 != "/" }.lowercased() == host.lowercased() ? nil : String(address)
  }

  static func shortened(_ text: String, _ limit: Int) -> String {
    text.utf8.count <= limit ? text : String(decoding: text.utf8.prefix(limit), as: UTF8.self)
  }

  private static let longestAddress = 2048
  private static let longestRange = 200
  private static let longestText = 1000

  /// Whether anything was asked for in a game.
  package func hasRequests(for id: String) -> Bool { state.withLock { $0.games[id] != nil } }

  // MARK: The run

  /// Returns what was recorded, with the files that were never asked for. They are not known of a pack that was replaced or cannot be opened any more.
  package func run(of site: GameSite) -> LoadRun {
    let state = state.withLock { $0 }
    let served = Dictionary(site.games.map { ($0.id, $0) }) { first, _ in first }
    return LoadRun(
      packs: state.order.compactMap { id in
        guard var game = state.games[id] else { return nil }
        if game.isWatched, !game.isReporting {
          game.note(
            LoadRun.Problem("errors of its scripts are not seen: its policy or its encoding keeps the script out that reports them"))
        }
        var recorded = game.pack
        guard let pack = served[id].flatMap({ (try? site.content(of: $0))?.pack }), pack.contentRoot == recorded.contentRoot else {
          return recorded
        }
        var (count, unused) = (0, [LoadRun.File]())
        do throws(PackError) {
          try pack.forEachEntry { entry in
            guard entry.kind == .file else { return }
            count += 1
            if !game.used.contains(entry.path) { unused.append(LoadRun.File(path: entry.path, size: entry.size)) }
          }
        } catch {
          return recorded
        }
        (recorded.files, recorded.unused) = (count, unused)
        return recorded
      })
  }
}
