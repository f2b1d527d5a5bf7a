extension Portal {
  /// Returns what a rule finds in a game. Of several limits for one thing, only the first counts that is exceeded.
  func findings(_ rule: String, in game: PortalGame) -> [Finding] {
    // A game without what the portal opens is made for another one, whose limits are others.
    guard rule == "PK8001" || game.files.contains(where: { entry.contains($0.path) }) else { return [] }
    var known: Set<String> = []
    return limits.filter { $0.kind.rule == rule }.flatMap { limit -> [Finding] in
      switch limit.kind {
      case .entry: missing(limit, game)
      case .totalSize(let bound): number(limit, "the game has", game.totalSize, bound, once: &known)
      case .fileCount(let bound): number(limit, "the game has", UInt64(game.files.count), bound, "files", once: &known)
      case .firstSize(let bound): firstSize(limit, game, bound, once: &known)
      case .mainSize(let bound): game.mainSize.map { number(limit, "outside of subpackages are", $0, bound, once: &known) } ?? []
      case .milliseconds(let bound):
        game.start.map { number(limit, "in a recorded run it could be played after", $0.milliseconds, bound, "ms", once: &known) } ?? []
      case .fileSize(let bound): fileSize(limit, game, bound, once: &known)
      case .characters(let characters):
        paths(limit, game, "has other characters than letters, digits and _ - .") { path in
          path.allSatisfy { $0 == "/" || characters.contains($0) }
        }
      case .pathLength(let bound): paths(limit, game, "is longer than \(bound.number) characters") { bound.allows(UInt64($0.count)) }
      case .endings(let endings):
        paths(limit, game, "has an ending that it leaves out") { path in
          path.split(separator: "/").last.flatMap { $0.split(separator: ".").dropFirst().last }.map { endings.contains($0.lowercased()) }
            ?? false
        }
      case .relativePaths: absolutePaths(limit, game)
      case .hosts(let hosts): otherHosts(limit, game, hosts)
      }
    }
  }

  /// The finding that a release has no game at all.
  var missingGame: Finding { Finding("\(name) opens \(entryText), which no pack has") }

  private var entryText: String { entry.map { "'\($0)'" }.joined(separator: " and ") }

  // MARK: Kinds of limits

  private func missing(_ limit: Limit, _ game: PortalGame) -> [Finding] {
    let missing = entry.filter { name in !game.files.contains { $0.path == name } }
    guard !missing.isEmpty else { return [] }
    return [
      Finding(
        "\(name) opens \(entryText) at the top, and there is no \(missing.map { "'\($0)'" }.joined(separator: ", no "))",
        level: limit.level,
        hint: "name the directory that has it as 'root' in packer.yml")
    ]
  }

  private func number(
    _ limit: Limit, _ what: String, _ number: UInt64, _ bound: Bound, _ unit: String? = nil, level: FindingLevel? = nil,
    once known: inout Set<String>
  ) -> [Finding] {
    guard !bound.allows(number), known.insert("").inserted else { return [] }
    return [
      Finding(
        "\(what) \(bound.text(of: number, unit)); \(name) \(limit.verb) \(bound.text(unit))", level: level ?? limit.level, actual: number,
        limit: bound.number)
    ]
  }

  private func firstSize(_ limit: Limit, _ game: PortalGame, _ bound: Bound, once known: inout Set<String>) -> [Finding] {
    if let script, !game.names(script) {
      // A warning, because not all files are searched for the name.
      let level = max(limit.level, .warning)
      return number(limit, "without a script of \(script), all of it counts:", game.totalSize, bound, level: level, once: &known)
    }
    if let start = game.start { return number(limit, "before it can be played, it loads", start.size, bound, once: &known) }
    // A game cannot load more of itself than it has.
    guard !bound.allows(game.totalSize), known.insert("").inserted else { return [] }
    return [
      Finding(
        "\(name) \(limit.verb) \(bound.text()) before a game can be played; of \(bound.text(of: game.totalSize)), it is not known how much that is",
        level: .note, actual: game.totalSize, limit: bound.number,
        hint: "have the game call performance.mark('playable'), record it with 'packer serve --record run.json', and add --run run.json")
    ]
  }

  private func fileSize(_ limit: Limit, _ game: PortalGame, _ bound: Bound, once known: inout Set<String>) -> [Finding] {
    let files = game.files.filter { !bound.allows($0.size) && known.insert($0.path).inserted }.sorted { $0.size > $1.size }
    guard let largest = files.first else { return [] }
    let lines = files.map { "'\(printable($0.path.utf8))' has \(bound.text(of: $0.size))" }
    return [
      Finding(
        "\(lines[0])\(lines.andMore); \(name) \(limit.verb) \(bound.text()) in a file", level: limit.level, actual: largest.size,
        limit: bound.number, details: Array(lines.prefix(20)))
    ]
  }

  private func paths(_ limit: Limit, _ game: PortalGame, _ fault: String, isAllowed: (String) -> Bool) -> [Finding] {
    let paths = game.files.map(\.path).filter { !isAllowed($0) }.map { "'\(printable($0.utf8))'" }
    guard let first = paths.first else { return [] }
    return [
      Finding(
        "\(name): \(first) \(fault)\(paths.andMore)", level: limit.level, details: Array(paths.prefix(20)),
        hint: "rename it, or exclude it in packer.yml")
    ]
  }

  private func absolutePaths(_ limit: Limit, _ game: PortalGame) -> [Finding] {
    [(game.references.absolute, limit.level), (game.references.absoluteGuesses, .warning)].flatMap { lines, level -> [Finding] in
      guard let first = lines.first else { return [] }
      return [
        Finding(
          "\(first)\(lines.andMore), but a game is not at the top of a host of \(name)", level: level, details: Array(lines.prefix(20)),
          hint: "leave the slash out, as in 'img/a.png'; for a bundler, set its base, in Vite base: './'")
      ]
    }
  }

  private func otherHosts(_ limit: Limit, _ game: PortalGame, _ hosts: Set<String>) -> [Finding] {
    let loads = game.references.foreign
    // A run has addresses without their queries.
    let others = game.asked.filter { url in !loads.contains { $0.address.hasPrefix(url) } }
    let lines =
      loads.filter { !hosts.contains(Self.host(of: $0.address)) }.map(\.sentence)
      + others.filter { !hosts.contains(Self.host(of: $0)) }.map { "a recorded run asked for '\(printable($0.utf8))'" }
    guard let first = lines.first else { return [] }
    return [
      Finding(
        "\(first)\(lines.andMore); \(name) refuses other hosts", level: limit.level, details: Array(lines.prefix(20)),
        hint: "put the files into the game")
    ]
  }

  /// Returns the host of an address that has one.
  private static func host(of address: String) -> String {
    guard let slashes = address.firstRange(of: "//") else { return "" }
    return address[slashes.upperBound...].prefix { !"/?#".contains($0) }.lowercased()
  }
}

extension Portal.Kind {
  /// The id of the rule that checks it.
  var rule: String {
    switch self {
    case .entry: "PK8001"
    case .totalSize: "PK8002"
    case .fileCount: "PK8003"
    case .fileSize: "PK8004"
    case .characters, .pathLength, .endings: "PK8005"
    case .relativePaths: "PK8006"
    case .hosts: "PK8007"
    case .firstSize, .mainSize: "PK8008"
    case .milliseconds: "PK8009"
    }
  }

  /// What it asks, for a list.
  fileprivate var text: String {
    switch self {
    case .entry: "at the top"
    case .totalSize(let bound), .fileSize(let bound): bound.text()
    case .fileCount(let bound): bound.text("files")
    case .characters: "letters A to Z, digits and _ - ."
    case .pathLength(let bound): bound.text("characters")
    case .endings(let endings): endings.sorted().joined(separator: " ")
    case .relativePaths: "relative paths"
    case .hosts(let hosts): "only " + hosts.sorted().joined(separator: " ")
    case .firstSize(let bound): "\(bound.text()), compressed"
    case .mainSize(let bound): "\(bound.text()) outside of subpackages"
    case .milliseconds(let bound): bound.text("ms")
    }
  }
}

extension Portal.Limit {
  fileprivate var verb: String { level == .error ? "allows" : "recommends" }

  /// The limit in words, with its source.
  fileprivate func text(of portal: Portal) -> String {
    let what = kind == .entry ? portal.entry.joined(separator: ", ") + " " : ""
    return "\(portal.name): \(what)\(kind.text) (\(level.rawValue)), \(source), read \(date)"
  }
}

extension Portal.Bound {
  /// The limit as the portal writes it.
  func text(_ unit: String? = nil) -> String {
    let word =
      switch self {
      case .below: "less than"
      case .upTo: "at most"
      }
    guard unit == nil else { return "\(word) \(text(of: number, unit))" }
    return "\(word) \(number / size.count) \(size.name)"
  }

  /// A number in the unit of the limit.
  func text(of number: UInt64, _ unit: String? = nil) -> String {
    if let unit, unit != "ms" { return "\(number) \(unit)" }
    let mebibyte: (name: String, count: UInt64) = ("MiB", 1 << 20)
    let second: (name: String, count: UInt64) = ("s", 1000)
    let one = unit != nil ? second : size.name == "KiB" && number >= mebibyte.count ? mebibyte : size
    // Rounded up, so that a number above the limit never looks like it.
    let (hundredths, rest) = number.times(100).quotientAndRemainder(dividingBy: one.count)
    let rounded = hundredths + (rest > 0 ? 1 : 0)
    return "\(rounded / 100).\(rounded / 10 % 10)\(rounded % 10) \(one.name)"
  }

  /// The unit in which the portal gives the limit of a size.
  private var size: (name: String, count: UInt64) {
    if number % (1 << 20) == 0 { return ("MiB", 1 << 20) }
    return number % (1 << 10) == 0 ? ("KiB", 1 << 10) : ("MB", 1_000_000)
  }
}

extension ReleaseRule {
  /// What each portal asks, for a rule about portals.
  var sources: [String] {
    Portal.all.flatMap { portal in portal.limits.filter { $0.kind.rule == id }.map { $0.text(of: portal) } }
  }
}
