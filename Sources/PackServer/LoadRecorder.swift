package import PackBuild
package import PackFormat
import PackReading
import PackServing
import PackWork

/// Records what browsers load from a ``GameSite``.
package final class LoadRecorder: Sendable {
  /// What was recorded of one game.
  private struct Game {
    var pack: LoadRun.Pack
    /// The paths of its files that were asked for.
    var used: Set<String> = []
    var knownMissing: Set<String> = []
    var knownForeign: Set<LoadRun.Foreign> = []
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
  func note(_ request: PackRequest, for game: PackServer.Game, _ pack: Pack, path: String, file: String, _ reply: SiteReply, near: String?)
  {
    let time = now()
    state.withLock { state in
      let start = state.start ?? time
      state.start = start
      var recorded =
        state.games[game.id]
        ?? Game(
          pack: LoadRun.Pack(id: game.id, version: game.version, contentRoot: pack.contentRoot, files: 0))
      if state.games[game.id] == nil { state.order.append(game.id) }
      if recorded.pack.contentRoot != pack.contentRoot {
        // A new version is served from now on.
        recorded = Game(pack: LoadRun.Pack(id: game.id, version: game.version, contentRoot: pack.contentRoot, files: 0))
      }
      recorded.pack.requestCount += 1
      if recorded.pack.requests.count < LoadRun.mostRequests {
        let elapsed = (time - start).components
        let milliseconds = UInt64(clamping: elapsed.seconds * 1000 + elapsed.attoseconds / 1_000_000_000_000_000)
        recorded.pack.requests.append(
          LoadRun.Request(
            milliseconds: milliseconds, path: path, status: UInt64(reply.status), size: reply.body?.length ?? 0,
            range: reply.status == 206 ? request.headers["Range"] : nil))
      }
      // Browsers ask for this icon by themselves.
      if reply.status == 404, path != "favicon.ico" {
        if recorded.knownMissing.count < LoadRun.mostNames, recorded.knownMissing.insert(path).inserted {
          recorded.pack.missing.append(LoadRun.Missing(path: path, near: near))
        }
      } else if reply.status < 400, recorded.used.count < Limits.records {
        recorded.used.insert(file)
      }
      state.games[game.id] = recorded
    }
  }

  /// Records a report of a browser that a page asked for an address on another host.
  ///
  /// - Parameter body: a report of Content Security Policy (CSP3 §5.3). Other bodies are ignored.
  func take(report body: [UInt8], of id: String) {
    guard case .object(let members) = try? RecordParser.parse(body), let report = members.first(where: { $0.key == "csp-report" })?.value,
      case .object(let fields) = report
    else { return }
    func text(_ key: String) -> String? {
      if case .text(let text) = fields.first(where: { $0.key == key })?.value { text } else { nil }
    }
    guard let url = text("blocked-uri"), !url.isEmpty, url.utf8.count <= Self.longestAddress else { return }
    let directive = text("effective-directive") ?? text("violated-directive") ?? ""
    let foreign = LoadRun.Foreign(url: url, directive: String(directive.prefix { $0 != " " }.prefix(40)))
    state.withLock { state in
      guard var game = state.games[id], game.knownForeign.count < LoadRun.mostNames, game.knownForeign.insert(foreign).inserted else {
        return
      }
      game.pack.foreign.append(foreign)
      state.games[id] = game
    }
  }

  private static let longestAddress = 2048

  // MARK: The run

  /// Returns what was recorded, with the files that were never asked for.
  ///
  /// - Throws: the error of a pack that cannot be opened any more.
  package func run(of site: GameSite) throws(PackError) -> LoadRun {
    let state = state.withLock { $0 }
    var run = LoadRun()
    for id in state.order {
      guard var game = state.games[id] else { continue }
      if let served = site.games.first(where: { $0.id == id }) {
        let pack = try site.pack(of: served)
        if pack.contentRoot == game.pack.contentRoot {
          try pack.forEachEntry { entry in
            guard entry.kind == .file else { return }
            game.pack.files += 1
            if !game.used.contains(entry.path) { game.pack.unused.append(LoadRun.File(path: entry.path, size: entry.size)) }
          }
        }
      }
      run.packs.append(game.pack)
    }
    return run
  }
}
