import ArgumentParser

/// `packer serve`
struct Serve: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serves games to a browser on this machine.",
    discussion: HelpText.text(
      """
      Every game gets its own origin, http://ID.localhost:PORT/. The first line on standard output is the address, which redirects to a \
      single pack, and lists the games of a release that 'packer build' made, or of a folder of plain files: the folder itself, or the \
      folders in it with an index.html. If the pack or the manifest is replaced, the new version is served.
      """,
      more: """
        The list shows what each game loads while it runs and what fails, and opens it in the view of a phone: a frame of a phone's size, with \
        requests and errors beside it. The switch 'bad day' makes files slow and some requests fail.

        Only this machine is served: the address is 127.0.0.1 (and ::1), requests for other host names are refused, and no \
        content is written to disk. Ctrl-C stops the server after the current responses, or after two seconds.

        With --cdn, the folder is served unchanged, encrypted and without a key, as a CDN would serve it. The options below add the faults of \
        a CDN; they apply to packs unless --only names other files.

        With --link, all connections share the rate; a request and its answer take the round trip, and a new connection takes another one. \
        Loss and the slow start of TCP are not simulated, and what clients send has no rate.

        With --certificate, the address is https, as App Transport Security and Background Assets need it. The certificate is made in a new \
        directory, for the names and addresses of this machine and a year, and used again the next time. Devices must trust the ca.crt there, \
        whose key is not kept. Your own certificate is used if it is there as server.crt, with its key as server.key.

        A connection that fails is reported: once for each cause, or every time with -v. Files with keys are never served.

        With --record, what browsers ask for is written to a file when the server stops: paths in order with times and sizes, paths that are not in \
        the pack, what pages wanted from other hosts, errors of scripts, and files that were never asked for. 'packer verify --run' reports the \
        faults among these. One script runs before those of a page: it reports errors, and takes away what no web view has. \
        --browser loads each pack in a headless browser for the time of --for, without anybody at the screen.
        """,
      examples: """
        Examples:
          packer serve game.pack --key game.key --open
          packer serve dist --key arcade.key -v
          packer serve games
          packer serve dist --pack chess --key arcade.key --isolated --port 0
          packer serve dist --key arcade.key --record run.json
          packer serve dist --record run.json --browser chromium --for 30
          packer serve --cdn dist --link 5Mbit/s,50ms
          packer serve --cdn dist --host 0.0.0.0 --certificate ../certificate
          packer serve --cdn dist --status 503 --times 2
          packer serve --cdn dist --corrupt --only 'chess-*.pack' --chance 0.2 --seed 7
        """))

  @Argument(help: "A pack, a release directory, or a folder of games.", completion: .file())
  var target: String

  @OptionGroup var key: KeyOptions

  @Option(help: ArgumentHelp("The port; 0 picks a free one.", valueName: "n"))
  var port = 7225

  @Flag(name: .customLong("open"), help: "Open the address in the browser.")
  var opens = false

  @Option(
    name: .customLong("pack"), help: ArgumentHelp("Serve only this pack of the release.", valueName: "id"))
  var only: String?

  @Option(
    help: ArgumentHelp(
      "Refuse a manifest not signed by one of these public keys. Repeatable; or a file of keys documents.", valueName: "key|file",
      visibility: .hidden))
  var trust: [String] = []

  @Flag(name: .customLong("isolated"), help: "Send COOP, COEP and CORP headers, which SharedArrayBuffer and WebAssembly threads need.")
  var isIsolated = false

  @Flag(help: ArgumentHelp("Let games register service workers, which stay in the browser and answer later requests.", visibility: .hidden))
  var serviceWorkers = false

  @Option(
    help: ArgumentHelp(
      "The page to serve for paths that do not exist, as a single-page application needs.", valueName: "path", visibility: .hidden))
  var fallback: String?

  @Option(
    name: .customLong("csp"),
    help: ArgumentHelp("The Content-Security-Policy header of every response.", valueName: "policy", visibility: .hidden))
  var contentSecurityPolicy: String?

  @Option(
    name: .customLong("record"),
    help: ArgumentHelp("Write what browsers ask for to this file. Not for folders of plain files.", valueName: "file"), completion: .file())
  var recordPath: String?

  @Option(
    name: .customLong("layout"),
    help: ArgumentHelp(
      "Add the order in which the game loads its files to this file, which 'layout' in packer.yml then names. Record at least three runs. Not for folders.",
      valueName: "file"), completion: .file())
  var orderPath: String?

  @Option(
    name: .customLong("browser"),
    help: ArgumentHelp(
      "Load each pack in this browser, without a window: chromium, or another one that takes its options.", valueName: "program",
      visibility: .hidden))
  var browser: String?

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "Stop after this many seconds; with --browser, show each pack as long. (default: until Ctrl-C)", valueName: "seconds"))
  var seconds: Int?

  @Option(
    help: ArgumentHelp(
      "Simulate a link of this rate for all connections together, and this round trip: 5Mbit/s,50ms.", valueName: "rate,time"))
  var link: String?

  @Flag(name: [.customShort("v"), .customLong("verbose")], help: "Print every request: status, bytes sent, bytes decrypted anew.")
  var isVerbose = false

  @OptionGroup(title: "As a CDN", visibility: .hidden) var faults: FaultOptions
  @OptionGroup var output: OutputOptions

  var programs: ProgramUse { .trusted }

  func run(in session: Session) async throws(PackError) -> Outcome {
    try Bounds.check(port, "--port", in: 0...65_535)
    if let seconds { try Bounds.check(seconds, "--for", in: 1...86_400) }
    guard browser == nil || seconds != nil && (recordPath ?? orderPath) != nil else {
      throw PackError(
        .usage, "--browser needs --for, and --record or --layout", hint: "for example: --record run.json --browser chromium --for 30")
    }
    let link = try link.map { (text) throws(PackError) in try NetworkLink(parsing: text) }
    return faults.isCDN ? try await serveFolder(over: link, in: session) : try await serveGames(over: link, in: session)
  }

  // MARK: Games

  private func serveGames(over link: NetworkLink?, in session: Session) async throws(PackError) -> Outcome {
    try faults.checkAbsent()
    if let fault = Self.controlFault(contentSecurityPolicy ?? "") { throw PackError(.usage, "--csp \(fault)") }
    let kind = GameStock.kind(of: target)
    try checkOptions(for: kind)
    let trusted = try session.trustedKeys(trust, nil)
    let keys = kind == .folder ? KeyRing() : KeyRing(try resolvedKey(in: session, isRelease: kind == .release))
    var options = PackResponder.Options()
    options.isIsolated = isIsolated
    // A browser would write cacheable responses to its disk, unencrypted. What is in the clear already it may keep, and asks each time.
    options.cacheControl = kind == .folder ? "no-cache" : "no-store"
    // For larger files and for ranges, only the tags are checked: checking the digest would halve the speed.
    options.digestLimit = 16 << 20
    options.fallback = fallback
    options.contentSecurityPolicy = contentSecurityPolicy
    let stock = GameStock(target, kind, keys: keys, trusting: trusted, only: only)
    let recorder = (recordPath ?? orderPath).map { _ in LoadRecorder() }
    let site = try GameSite(stock, options: options, allowsServiceWorkers: serviceWorkers, recorder: recorder)
    try checkFallback(in: site)
    // Before anybody plays for an hour.
    func output(_ path: String?) throws(PackError) -> OutputFile? {
      guard let path else { return nil }
      try ReportFile.check(
        path, against: [target] + (kind == .release ? [] : key.references),
        release: kind == .release ? ReleasePlaces.directory(of: target) : "")
      return try OutputFile(path, files: SystemFiles())
    }
    let known = try knownOrder(site)
    let (recordOutput, orderOutput) = (try output(recordPath), try output(orderPath))
    let server = try await start(site, hosts: ["127.0.0.1", "::1"], over: link, in: session)
    let console = session.console
    let stopWatching = server.every(milliseconds: 500) {
      do throws(PackError) {
        guard let changed = try site.refresh(), !changed.isEmpty else { return }
        let versions = changed.map { game in game.version.map { "\(game.id) \($0)" } ?? game.id }.listed(most: 10)
        if console.isJSON { console.result(["type": "refreshed", "games": .list(site.games.map(\.json))]) }
        console.note(kind == .folder ? "now serving: \(versions)" : "now serving a new version: \(versions)")
        console.flushOutput()
      } catch {
        console.warning("the new content of \(target) is not served: \(error.message)", hint: error.hint)
        console.flushOutput()
      }
    }
    let address = "http://127.0.0.1:\(server.port)/"
    tell(address, games: site, on: console)
    open(site.isSingle ? "\(site.games[0].origin(port: ":\(server.port)"))/" : address, in: session)
    var failure: PackError?
    if let browser, let seconds, let recorder {
      for game in site.games where game.hasPage && failure == nil && !Task.isCancelled {
        do throws(PackError) {
          try await HeadlessBrowser(browser).show(
            "\(game.origin(port: ":\(server.port)"))/", for: .seconds(seconds), since: { recorder.hasRequests(for: game.id) })
        } catch {
          failure = error
        }
      }
    } else {
      await untilStopped(after: seconds)
    }
    stopWatching()
    await server.stop(within: 2)
    if let failure { throw failure }
    if let run = recorder?.run(of: site) {
      if let recordOutput { try write(run, to: recordOutput, on: console) }
      if let orderOutput {
        var pack = run.packs.first
        // Not the pages that lead into a directory, or that a game gets in place of a path of its own.
        pack?.requests.removeAll { !site.hasFile($0.path, of: run.packs[0].id) }
        try write(pack, addedTo: known, to: orderOutput, on: console)
      }
    }
    guard seconds != nil, !Task.isCancelled else { throw PackError(.cancelled, "stopped") }
    return .done
  }

  /// Returns the order of the runs before.
  private func knownOrder(_ site: GameSite) throws(PackError) -> LoadOrder? {
    guard let orderPath else { return nil }
    guard site.games.count == 1 else {
      throw PackError(.usage, "--layout is for one game, and \(target) has \(site.games.count)", hint: "choose one with --pack")
    }
    return try unless(.missingInput, try LoadOrder.read(orderPath))
  }

  private func write(
    _ run: LoadRun.Pack?, addedTo known: LoadOrder?, to output: OutputFile, on console: Console
  ) throws(PackError) {
    guard let run else {
      console.warning("nothing was asked for, so \(orderPath ?? "") stays as it is", hint: "open the game's address in a browser")
      return
    }
    var order = known ?? LoadOrder(launch: [], later: [])
    order.merge(LoadOrder(run))
    let document = order.document
    try output.write(document.byteSpan, at: 0, of: UInt64(document.count))
    try output.commit()
    console.result(
      [
        "type": "layout", "file": .text(orderPath ?? ""), "pack": .text(run.id), "launch": .number(order.launch.count),
        "later": .number(order.later.count),
      ],
      ["\(orderPath ?? ""): \(Table.count(order.launch.count, "file", "files")) at the launch, \(order.later.count) later"])
    if run.playable == nil {
      console.note(
        "the first \(LoadOrder.assumedLaunch / 1000) seconds count as the launch: performance.mark('playable') says when the game can be played"
      )
    }
  }

  private func write(_ run: LoadRun, to output: OutputFile, on console: Console) throws(PackError) {
    let document = run.document
    guard document.count <= LoadRun.largestSize else {
      throw PackError(
        .limitExceeded, "the run takes \(document.count) bytes, more than \(LoadRun.largestSize)",
        hint: "record for a shorter time, or one pack")
    }
    try output.write(document.byteSpan, at: 0, of: UInt64(document.count))
    try output.commit()
    for pack in run.packs {
      var parts = ["\(Table.count(pack.requestCount, "request", "requests")), \(ByteCount(pack.sentSize))"]
      if !pack.problems.isEmpty { parts.append(Table.count(pack.problems.count, "problem", "problems")) }
      if !pack.missing.isEmpty { parts.append("\(Table.count(pack.missing.count, "path is", "paths are")) not in the pack") }
      if !pack.foreign.isEmpty { parts.append("\(Table.count(pack.foreign.count, "address", "addresses")) on other hosts") }
      if let unused = pack.unused, let files = pack.files, !unused.isEmpty {
        parts.append("\(unused.count) of \(files) files never asked for, \(ByteCount(unused.reduce(0) { $0.adding($1.size) }))")
      }
      if pack.unused == nil { parts.append("it was replaced, so that its unused files are not known") }
      console.result(pack.json(of: recordPath ?? ""), ["\(pack.id): \(parts.joined(separator: "; "))"])
      for problem in pack.problems.prefix(5) { console.note("\(pack.id): \(problem.sentence)") }
      for missing in pack.missing.prefix(5) { console.note("\(pack.id): no \(missing.path)\(missing.near.map { ", but \($0)" } ?? "")") }
      for foreign in pack.foreign.prefix(5) { console.note("\(pack.id): asks for \(foreign.url)") }
    }
    if run.packs.isEmpty {
      console.warning("nothing was asked for, so \(recordPath ?? "") has no packs", hint: "open a pack's address in a browser")
    }
  }

  private func checkOptions(for kind: GameStock.Kind) throws(PackError) {
    switch kind {
    case .pack:
      guard only == nil, trust.isEmpty else {
        throw PackError(.usage, "\(only != nil ? "--pack" : "--trust") is for a release, and \(target) is not a directory")
      }
    case .release:
      guard !ReleasePlaces.exists(target) || ReleasePlaces.exists("\(target)/\(ReleaseFile.manifest)") else {
        throw PackError(
          .missingInput, of: target, "has no manifest.json, and no index.html, in it or in a folder in it",
          hint: ReleasePlaces.exists("\(target)/\(ReleaseFile.folder)/\(ReleaseFile.manifest)")
            ? "packer serve \(ShellWord.path("\(target)/\(ReleaseFile.folder)"))"
            : "make a release with 'packer build', or name the folder of a game")
      }
      try ReleasePlaces.checkPresence(of: target, configuration: nil)
    case .folder:
      let record = recordPath == nil ? orderPath == nil ? nil : "--layout" : "--record"
      guard trust.isEmpty, key.references.isEmpty, record == nil else {
        let option = !trust.isEmpty ? "--trust" : record ?? "--key"
        throw PackError(
          .usage, "\(option) is for packs, and \(target) is a folder of plain files",
          hint: record == nil ? nil : "pack it first: only packs are recorded")
      }
    }
  }

  /// Reads the key of the pack, or of the first pack of the release that needs one.
  private func resolvedKey(in session: Session, isRelease: Bool) throws(PackError) -> PackKey {
    var pack = target
    if isRelease {
      do throws(PackError) {
        _ = try GameSite(GameStock(target, .release, keys: KeyRing(), only: only), options: .init())
      } catch  where error.code == .noKey {
        pack = error.subject ?? target
      }
    }
    return try session.key(key, for: pack)
  }

  /// Throws if no pack contains the fallback file. In a release, some packs may not have it.
  private func checkFallback(in site: GameSite) throws(PackError) {
    guard let fallback else { return }
    for game in site.games where try site.hasFile(fallback, in: game) { return }
    throw PackError(
      .noSuchEntry, "--fallback is '\(fallback)', and \(target) has no such file",
      hint: "give a path as 'packer ls' lists it, such as index.html")
  }

  private func tell(_ address: String, games site: GameSite, on console: Console) {
    console.result(["type": "serving", "url": .text(address), "games": .list(site.games.map(\.json))], [address])
    console.flushOutput()
    let port = address.split(separator: ":").last.map { $0.dropLast() } ?? ""
    for game in site.games where game.hasPage { console.note("\(game.id) is at \(game.origin(port: ":\(port)"))/") }
    if !site.games.contains(where: \.hasPage) {
      console.warning("nothing here has an index.html at its root, so no page opens", hint: "pack the folder that has the index.html")
    }
    console.note("serving this machine only\(seconds == nil ? "; Ctrl-C stops the server" : "")")
  }

  // MARK: The release as files

  private func serveFolder(over link: NetworkLink?, in session: Session) async throws(PackError) -> Outcome {
    guard key.references.isEmpty, only == nil, trust.isEmpty, !isIsolated, !serviceWorkers, fallback == nil,
      contentSecurityPolicy == nil, recordPath == nil, orderPath == nil, browser == nil, seconds == nil, !opens
    else {
      throw PackError(
        .usage,
        "--cdn serves the folder unchanged, so --key, --open, --pack, --trust, --isolated, --service-workers, --fallback, --csp, --record, --layout, --browser and --for do not apply"
      )
    }
    let (plan, isSeedChosen) = try faults.plan()
    let names = ServerNames(host: faults.host)
    let folder = try faults.certificate.map { (directory) throws(PackError) in
      try CertificateFolder(directory, for: names, outside: target)
    }
    let scheme = folder == nil ? "http" : "https"
    let known = folder?.names ?? (faults.host == nil ? ["127.0.0.1"] : names.all)
    let site = try PublishedFolder(target, faults: plan, names: faults.host == nil ? known : nil)
    let console = session.console
    let server = try await start(site, hosts: names.hosts, over: link, tls: folder, names: known, in: session)
    let addresses = known.map { "\(scheme)://\($0.contains(":") ? "[\($0)]" : $0):\(server.port)/" }
    // The name for this machine comes first.
    let others = zip(known, addresses).filter { !ServerNames.isLoopback($0.0) }.map(\.1)
    console.result(
      [
        "type": "serving", "url": .text(addresses[0]), "seed": plan.chance == nil ? nil : .number(plan.seed),
        // The path of the certificate that clients must trust.
        "authority": .text(folder?.authority), "addresses": faults.host == nil ? nil : .texts(others),
      ], [addresses[0]])
    for warning in folder?.warnings ?? [] { console.warning(warning.message, hint: warning.hint) }
    warn(ofKeys: site.keys(), on: console)
    for pattern in site.unmatched(plan.patterns) {
      console.warning(
        "the name of no file matches --only \(ShellWord.quoted(pattern))", hint: "names are without directories, as in manifest.json")
    }
    if let folder { tell(folder, on: console) }
    console.flushOutput()
    if plan.chance != nil, !isSeedChosen { console.note("repeat these faults with --seed \(plan.seed)") }
    if !others.isEmpty {
      console.note("devices on the network can download the files in \(target) at \(others.joined(separator: " or "))")
      console.note("in packer.yml, baseURL must begin with one of these addresses")
    }
    if let build = try? BuildRecord.read(in: target), build.manifest.version > 1 {
      console.note(
        "\(target) has the packs of manifest \(build.manifest.version) only, and devices with an earlier one may ask for others: "
          + "'packer publish --to FOLDER' keeps them")
    }
    await untilStopped()
    await server.stop(within: 2)
    throw PackError(.cancelled, "stopped")
  }

  private func warn(ofKeys keys: [String], on console: Console) {
    guard !keys.isEmpty else { return }
    let shown = keys.map { "\(target)/\($0)" }.listed(most: 8)
    console.warning(
      "keys are not served: \(shown)", hint: "move them out of \(target), because an upload of the directory would publish them")
  }

  private func tell(_ folder: CertificateFolder, on console: Console) {
    if let names = folder.made {
      console.note("made a certificate for \(CertificateFolder.days) days: \(names.joined(separator: ", "))")
    }
    guard let authority = folder.authority else {
      console.note("clients must trust the authority of \(folder.certificate); its certificate is not in the directory as ca.crt")
      return
    }
    let file = ShellWord.path(authority)
    console.note("simulator: xcrun simctl keychain booted add-root-cert \(file)")
    console.note(
      "device: send it \(file), install the profile in Settings, and switch it on in General > About > Certificate Trust Settings")
  }

  // MARK: Both

  private func start(
    _ site: any Site, hosts: [String], over link: NetworkLink?, tls: CertificateFolder? = nil, names: [String] = [], in session: Session
  ) async throws(PackError) -> HTTPServer {
    let console = session.console
    let isVerbose = isVerbose
    let advice = connectionAdvice(tls, names)
    let told = Monitor<Set<ConnectionFailure.Kind>>([])
    // Failures of the server are reported even without --verbose.
    let limits = hosts.allSatisfy(ServerNames.isLoopback) ? HTTPServer.Limits() : .public
    return try await HTTPServer(site, hosts: hosts, port: port, tls: tls?.context, link: link, limits: limits) { exchange in
      if let failure = exchange.failure { console.warning("\(exchange.request.target): \(failure.message)", hint: failure.hint) }
      guard isVerbose else { return }
      if console.isJSON {
        console.result(exchange.json)
        console.flushOutput()
      } else {
        console.note(Self.line(exchange))
      }
    } observeFailure: { failure in
      // A client that does not trust the certificate tries again and again.
      guard told.withLock({ $0.insert(failure.kind).inserted }) || isVerbose else { return }
      console.warning(failure.message, hint: advice(failure.kind))
      console.flushOutput()
    }
  }

  /// Returns what the user can do about failed connections.
  private func connectionAdvice(_ folder: CertificateFolder?, _ names: [String]) -> @Sendable (ConnectionFailure.Kind) -> String? {
    let authority = folder?.authority.map { "have it trust \(ShellWord.path($0))" } ?? "have it trust the authority of the certificate"
    let isCDN = faults.isCDN
    return { kind in
      switch kind {
      case .plainHTTP: "use an address with https://"
      case .encrypted: "use an address with http://\(isCDN ? ", or serve HTTPS with --certificate" : "")"
      case .refusal, .abandoned: "\(authority), and use a name of the certificate: \(names.joined(separator: ", "))"
      case .handshake: "clients must use TLS 1.2 or 1.3"
      case .stalled: nil
      }
    }
  }

  private static func line(_ exchange: SiteExchange) -> String {
    var line = "\(exchange.status) \(exchange.request.method) \(exchange.request.target)"
    if let range = exchange.request.headers["Range"] { line += " \(range)" }
    line += ": \(exchange.sentBytes) bytes, \(exchange.decryptedBytes == 0 ? "none" : "\(exchange.decryptedBytes)") decrypted anew"
    line += ", \(exchange.microseconds / 1000).\(exchange.microseconds % 1000 / 100) ms"
    if let note = exchange.note { line += " (\(note))" }
    return exchange.isComplete ? line : line + ", cut off"
  }

  /// Waits for the signal that ends the process, or for some seconds.
  private func untilStopped(after seconds: Int? = nil) async {
    if let seconds {
      try? await Task.sleep(for: .seconds(seconds))
      return
    }
    // The stream has no elements. It ends when the task is cancelled.
    let (stream, _) = AsyncStream<Never>.makeStream()
    for await _ in stream {}
  }

  private func open(_ address: String, in session: Session) {
    guard opens else { return }
    do throws(PackError) {
      try BrowserCommand.open(address)
    } catch {
      session.console.warning(error.message, hint: error.hint)
    }
  }

  private static func controlFault(_ text: String) -> String? {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } ? nil : "contains a character that a header field must not contain"
  }
}

/// The options for the faults of a CDN.
struct FaultOptions: ParsableArguments {
  @Flag(name: .customLong("cdn"), help: "Serve the folder unchanged, without a key, as a CDN would.")
  var isCDN = false

  @Option(help: ArgumentHelp("Close the connection after this many bytes of the body.", valueName: "size"))
  var truncate: String?

  @Flag(help: "Send one byte more than the file has, with a matching Content-Length.")
  var wrongSize = false

  @Flag(help: "Flip a bit in the middle of the file.")
  var corrupt = false

  @Flag(help: "Redirect (302) to another address of the same file.")
  var redirect = false

  @Flag(help: "Ignore Range requests, and do not offer them.")
  var noRanges = false

  @Option(help: ArgumentHelp("Answer with this status, from 400 to 599.", valueName: "code"))
  var status: Int?

  @Option(
    name: .customLong("only"),
    help: ArgumentHelp("Apply the fault to files whose names match. Repeatable. (default: *.pack)", valueName: "glob"))
  var patterns: [String] = []

  @Option(help: ArgumentHelp("Apply the fault to the first n requests only.", valueName: "n"))
  var times: Int?

  @Option(help: ArgumentHelp("Apply the fault to this share of the requests, from 0 to 1.", valueName: "p"))
  var chance: Double?

  @Option(help: ArgumentHelp("Random seed. (default: random, printed)", valueName: "n"))
  var seed: UInt64?

  @Option(help: ArgumentHelp("Listen on this address, for devices on the network. (default: 127.0.0.1)", valueName: "address"))
  var host: String?

  @Option(
    help: ArgumentHelp("Serve over HTTPS, with the certificate in this directory, which is made if it does not exist.", valueName: "dir"),
    completion: .directory)
  var certificate: String?

  func plan() throws(PackError) -> (FaultPlan, isSeedChosen: Bool) {
    var plan = FaultPlan()
    plan.truncation = try truncate.map { (text) throws(PackError) in
      try Bounds.size(text, "--truncate", in: 0...(1 << 50), isPowerOfTwo: false)
    }
    plan.hasWrongSize = wrongSize
    plan.isCorrupt = corrupt
    plan.redirects = redirect
    plan.ignoresRanges = noRanges
    if let status { try Bounds.check(status, "--status", in: 400...599) }
    plan.status = status
    plan.patterns = patterns
    if let times { try Bounds.check(times, "--times", in: 1...Int.max) }
    plan.times = times
    if let chance { try Bounds.check(chance, "--chance", in: 0...1) }
    plan.chance = chance
    plan.seed = seed ?? UInt64.random(in: 0...UInt64(UInt32.max))
    if plan.isEmpty, !patterns.isEmpty || times != nil || chance != nil || seed != nil {
      throw PackError(
        .usage, "--only, --times, --chance and --seed need a fault, and none was given",
        hint: "add a fault, such as --status 503")
    }
    return (plan, seed != nil)
  }

  /// Throws if an option was given that has a meaning only with `--cdn`.
  func checkAbsent() throws(PackError) {
    guard truncate == nil, !wrongSize, !corrupt, !redirect, !noRanges, status == nil, patterns.isEmpty, times == nil,
      chance == nil, seed == nil
    else {
      throw PackError(.usage, "faults need --cdn", hint: "packer serve --cdn DIR …")
    }
    guard certificate == nil else {
      throw PackError(
        .usage, "--certificate needs --cdn: decrypted content is served to this machine only", hint: "packer serve --cdn DIR …")
    }
    guard host == nil else {
      throw PackError(
        .usage, "--host needs --cdn: decrypted content is served to this machine only",
        hint: "to play on another device, install the app there")
    }
  }
}
