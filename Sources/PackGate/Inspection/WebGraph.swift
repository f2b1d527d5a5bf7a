import PackBuild
import PackFormat
import PackProject
import PackReading
import PackServing
import PackWeb

/// What is wrong with the references of a pack, one sentence each, in the order of files and lines.
struct WebFaults: Sendable, Equatable {
  /// References to files that the pack does not have, in files that a browser loads in any case.
  var missing: [String] = []
  /// What is loaded from other hosts in any case.
  var foreign: [String] = []
  /// What is perhaps loaded from other hosts.
  var foreignGuesses: [String] = []
  /// References that probably lead nowhere.
  var doubtful: [String] = []
}

/// Follows the references of a pack from `index.html` as a browser does, and finds those that lead nowhere.
///
/// Time: no file is followed after ``mostJudged`` references, and each missing name that is shown is compared with all paths.
struct WebGraph {
  /// A file in a role, with the import maps of the page that loads it.
  private struct Visit: Hashable {
    let path: String
    let use: WebReference.Use
    let map: Int
  }

  private enum Target {
    case file(String)
    case missing(String)
    case foreign
    case local
    case bare
    /// Nothing is known about it, or it needs no file.
    case other
  }

  private enum Base {
    case path(String)
    case foreign
    case other
  }

  private struct Fault {
    enum Kind { case missing, local, foreign, bare, backslash }

    let file: String
    let reference: WebReference
    let kind: Kind
    /// The path that the pack does not have.
    let target: String
    let isCertain: Bool
  }

  private let pack: Pack
  private var files: [String: WebReferences]
  private var maps: [ImportMap] = [ImportMap()]
  private var visited: Set<Visit> = []
  private var seen: Set<String> = []
  private var queue: [Visit] = []
  private var faults: [Fault] = []
  private var unique: Set<String> = []
  private var known: [String: String?] = [:]
  private var judged = 0

  /// The number of references after which no more files are followed. Files count for every page that loads them with import maps of its own.
  private static let mostJudged = 2_000_000
  /// The number of findings for which the file that was probably meant is searched.
  private static let mostShown = 20

  /// - Parameter files: the references of all files that were read.
  init(_ pack: Pack, _ files: [String: WebReferences]) {
    self.pack = pack
    self.files = files
  }

  /// - Parameter misspelled: what ``PageReferences`` found. What is certain is removed from it, and the rest is not found again.
  mutating func run(_ misspelled: inout [PageReferences.Misspelling]) throws(PackError) -> WebFaults {
    if files["index.html"] != nil { visit("index.html", .page, map: 0) }
    var next = 0
    while next < queue.count {
      let visit = queue[next]
      next += 1
      try judge(visit.path, visit, isReached: true)
    }
    for path in files.keys.sorted() where !seen.contains(path) { try judge(path, nil, isReached: false) }
    let certain = Set(faults.filter { $0.isCertain && $0.kind == .missing }.map { "\($0.file)\0\($0.target)" })
    misspelled.removeAll { certain.contains($0.id) }
    let others = Set(misspelled.map(\.id))
    faults.removeAll { $0.kind == .missing && !$0.isCertain && others.contains("\($0.file)\0\($0.target)") }
    return try sentences()
  }

  private mutating func visit(_ path: String, _ use: WebReference.Use, map: Int) {
    guard let kind = WebFileKind(path: path), files[path] != nil, judged < Self.mostJudged else { return }
    switch (use, kind) {
    case (.page, .page), (.page, .xml), (.style, .style), (.script, .script), (.module, .script): break
    default: return
    }
    let visit = Visit(path: path, use: use, map: use == .module ? map : 0)
    guard visited.insert(visit).inserted else { return }
    seen.insert(path)
    queue.append(visit)
  }

  // MARK: References

  private mutating func judge(_ path: String, _ visit: Visit?, isReached: Bool) throws(PackError) {
    guard let references = files[path] else { return }
    let own = "/" + RequestTarget.encoded(path)
    let base = Self.base(of: references, own)
    var map = visit?.map ?? 0
    if !references.importMaps.isEmpty, case .path(let base) = base {
      map = maps.count
      maps.append(ImportMap(references.importMaps, base: base))
    }
    var sets: [Int: [(reference: WebReference, target: Target)]] = [:]
    judged += references.all.count
    for reference in references.all {
      // Only modules have imports.
      if reference.use == .specifier, visit?.use == .script, reference.isCertain { continue }
      let target = try target(of: reference, in: path, own, base, map: map, isReached: isReached)
      if let set = reference.alternatives {
        sets[set, default: []].append((reference, target))
        continue
      }
      add(reference, target, in: path, isCertain: reference.isCertain && isReached)
      if reference.use == .manifest, case .file(let file) = target { try readManifest(file) }
      guard isReached, reference.isCertain, case .file(let file) = target else { continue }
      self.visit(file, reference.use == .specifier ? .module : reference.use, map: map)
    }
    for set in sets.keys.sorted() { judge(sets[set] ?? [], in: path, isReached: isReached) }
  }

  /// Reads a web app manifest of any name.
  private mutating func readManifest(_ path: String) throws(PackError) {
    guard files[path] == nil, try pack.entry(at: path).size <= WebSearch.largestFile else { return }
    files[path] = WebReferences(in: try pack.read(path), .manifest)
    try judge(path, nil, isReached: false)
    seen.insert(path)
  }

  /// Judges alternatives: one of them is enough.
  private mutating func judge(_ set: [(reference: WebReference, target: Target)], in path: String, isReached: Bool) {
    let isThere = set.contains {
      switch $0.target {
      case .file, .other: true
      case .missing, .foreign, .local, .bare: false
      }
    }
    guard isThere else {
      guard let first = set.first else { return }
      let isForeign = set.allSatisfy { if case .foreign = $0.target { true } else { false } }
      let hasForeign = set.contains { if case .foreign = $0.target { true } else { false } }
      add(first.reference, first.target, in: path, isCertain: first.reference.isCertain && isReached && (isForeign || !hasForeign))
      return
    }
    for (reference, target) in set where !reference.isOptional { add(reference, target, in: path, isCertain: false) }
  }

  private mutating func add(_ reference: WebReference, _ target: Target, in path: String, isCertain: Bool) {
    switch target {
    case .other: break
    case .file:
      // In addresses of an app's own scheme, only a slash separates.
      guard reference.value.utf8.prefix(while: { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }).contains(UInt8(ascii: "\\")) else {
        return
      }
      append(path, reference, .backslash, isCertain: false)
    case .missing(let missing):
      // A server may answer an address without a name of a file.
      guard isCertain || reference.use != .address || missing.split(separator: "/").last?.contains(".") ?? false else { return }
      append(path, reference, .missing, missing, isCertain: isCertain)
    case .local: append(path, reference, .local, isCertain: isCertain)
    case .bare: append(path, reference, .bare, isCertain: isCertain)
    case .foreign:
      // A picture may name other hosts in its metadata, but loads nothing.
      guard reference.use != .link, isCertain || WebFileKind(path: path) != .xml else { return }
      append(path, reference, .foreign, isCertain: isCertain)
    }
  }

  private mutating func append(_ path: String, _ reference: WebReference, _ kind: Fault.Kind, _ target: String = "", isCertain: Bool) {
    guard unique.insert("\(path)\0\(reference.line)\0\(isCertain)\0\(reference.value)").inserted else { return }
    faults.append(Fault(file: path, reference: reference, kind: kind, target: target, isCertain: isCertain))
  }

  private static func base(of references: WebReferences, _ own: String) -> Base {
    guard let base = references.base else { return .path(own) }
    return switch WebAddress(base, from: own) {
    case .path(let path): .path(path)
    case .foreign: .foreign
    case .local: .other
    case .other: base.utf8.contains(UInt8(ascii: ":")) ? .other : .path(own)
    }
  }

  private mutating func target(
    of reference: WebReference, in path: String, _ own: String, _ base: Base, map: Int, isReached: Bool
  ) throws(PackError) -> Target {
    guard case .path(let base) = base else {
      // Of a page whose base is elsewhere.
      guard case .path = WebAddress(reference.value, from: own) else { return try resolve(reference.value, from: own) }
      if case .foreign = base { return .foreign }
      return .other
    }
    switch reference.use {
    case .specifier:
      guard let address = maps[map].address(of: reference.value, in: base) else {
        return isReached && reference.isCertain && !maps[map].isUnknown ? .bare : .other
      }
      return try resolve(address, from: base)
    case .address:
      // Relative to the page, which a script of its own does not know.
      var missing: Target?
      for base in Set([base, "/"]).sorted() {
        let target = try resolve(reference.value, from: base)
        guard case .missing = target else { return target }
        missing = target
      }
      return missing ?? .other
    default: return try resolve(reference.value, from: base)
    }
  }

  private mutating func resolve(_ value: String, from base: String) throws(PackError) -> Target {
    switch WebAddress(value, from: base) {
    case .foreign: return .foreign
    case .local: return .local
    case .other: return .other
    case .path(let address):
      let found: String?
      if let cached = known[address] {
        found = cached
      } else {
        found = try file(at: address)
        known[address] = found
      }
      return found.map { .file($0) } ?? .missing(RequestTarget(Self.escaped(address))?.path ?? String(address.dropFirst()))
    }
  }

  /// Returns the file that a server returns for an address, as ``PackResponder`` finds it.
  private func file(at address: String) throws(PackError) -> String? {
    guard let target = RequestTarget(Self.escaped(address)) else { return nil }
    func file(_ path: String) throws(PackError) -> String? {
      guard path.utf8.count <= Limits.pathLength, let entry = try pack.find(path), entry.kind == .file else { return nil }
      return path
    }
    let index = "index.html"
    if target.isDirectory { return try file(target.path + index) }
    if let found = try file(target.path) { return found }
    return try file("\(target.path)/\(index)")
  }

  /// Escapes blanks, as browsers do.
  private static func escaped(_ address: String) -> String {
    address.utf8.contains(0x20) ? address.split(separator: " ", omittingEmptySubsequences: false).joined(separator: "%20") : address
  }

  // MARK: Sentences

  private mutating func sentences() throws(PackError) -> WebFaults {
    unique.removeAll()
    let sorted = faults.sorted {
      ($0.file, $0.reference.line, $0.isCertain ? 0 : 1, $0.reference.value) < (
        $1.file, $1.reference.line, $1.isCertain ? 0 : 1, $1.reference.value
      )
    }.filter { unique.insert("\($0.file)\0\($0.reference.line)\0\($0.reference.value)").inserted }
    var near: [String: NearestPath] = [:]
    for isCertain in [true, false] {
      for fault in sorted.filter({ $0.kind == .missing && $0.isCertain == isCertain }).prefix(Self.mostShown) {
        near[fault.target] = NearestPath(to: fault.target)
      }
    }
    if !near.isEmpty {
      let targets = Array(near.keys)
      try pack.forEachEntry { (entry) throws(PackError) in
        guard entry.kind == .file else { return }
        for target in targets { near[target]?.look(at: entry.path) }
      }
    }
    var result = WebFaults()
    for fault in sorted {
      let value = printable(fault.reference.value.utf8.prefix(200))
      let place = "'\(printable(fault.file.utf8))', line \(fault.reference.line),"
      switch fault.kind {
      case .missing:
        let reason = near[fault.target]?.path.map { "; the pack has '\(printable($0.utf8))'" } ?? ", which the pack does not have"
        let sentence = "\(place) refers to '\(value)'\(reason)"
        if fault.isCertain { result.missing.append(sentence) } else { result.doubtful.append(sentence) }
      case .local:
        let sentence = "\(place) refers to '\(value)', a file of the developer's computer"
        if fault.isCertain { result.missing.append(sentence) } else { result.doubtful.append(sentence) }
      case .backslash:
        result.doubtful.append("\(place) refers to '\(value)', whose backslash is no slash in addresses of apps")
      case .bare:
        result.missing.append("\(place) imports '\(value)', which no import map of the page has")
      case .foreign:
        let sentence = "\(place) loads '\(value)'"
        if fault.isCertain { result.foreign.append(sentence) } else { result.foreignGuesses.append(sentence) }
      }
    }
    return result
  }
}
