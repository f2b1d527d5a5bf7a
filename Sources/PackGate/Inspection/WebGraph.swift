/// What is wrong with the references of a pack, one sentence each, in the order of files and lines.
struct WebFaults: Sendable {
  /// References to files that the pack does not have, in files that a browser always loads.
  var missing: [String] = []
  /// What is always loaded from other hosts.
  var foreign: [ForeignLoad] = []
  /// What is perhaps loaded from other hosts.
  var foreignGuesses: [String] = []
  /// References that probably lead nowhere.
  var doubtful: [String] = []
  /// The same, to files that the configuration keeps out of the pack.
  var excluded: [String] = []
  /// Registrations of service workers.
  var serviceWorkers: [String] = []
  /// Pages in an encoding that browsers do not know, and other texts in one that no page names.
  var unknownEncodings: [String] = []
  var foreignEncodings: [String] = []
  /// Names of files in the wrong case, which are perhaps loaded.
  var misspelled: [String] = []
  /// References that start at the top of the host, of what a page loads.
  var absolute: [String] = []
  /// The same of other pages, and texts of scripts that are the paths of files.
  var absoluteGuesses: [String] = []

  /// Something that is loaded from another host.
  struct ForeignLoad: Sendable {
    var sentence: String
    /// Its address as it is written: one without a host, if the page has a base of another host.
    var address: String
  }
}

/// Follows the references of a pack from `index.html` as a browser does, and finds those that lead nowhere.
///
/// Time: no file is followed after ``mostJudged`` references, and each missing name that is shown is compared with all paths.
final class WebGraph {
  private enum Kind {
    /// A file of the pack.
    case there
    case missing, local, foreign, bare, backslash
    /// Nothing is known about it, or it needs no file.
    case unknown
  }

  private final class Fault {
    let kind: Kind
    let path: String
    let reference: WebReference
    /// The file that it means.
    let target: String
    /// What an import map makes of a bare specifier.
    let address: String?
    let isCertain: Bool

    init(_ kind: Kind, _ path: String, _ reference: WebReference, _ target: String, address: String?, isCertain: Bool) {
      (self.kind, self.path, self.reference, self.target, self.isCertain) = (kind, path, reference, target, isCertain)
      self.address = address
    }
  }

  /// A file in a role, with the import map of the page that loads it.
  private final class Visit {
    let path: String
    let use: WebReference.Use
    let map: ImportMap

    init(_ path: String, _ use: WebReference.Use, _ map: ImportMap) { (self.path, self.use, self.map) = (path, use, map) }
  }

  private let pack: Pack
  private let hasPages: Bool
  private let excluding: (String) -> String?
  private var files: [String: WebReferences]
  private let paths: [String]
  /// The files that were followed, with role and map.
  private var visited: Set<String> = []
  /// The files that were followed in any role.
  private var seen: Set<String> = []
  private var queue: [Visit] = []
  private let noMap = ImportMap([], base: "/")
  private var mapCount = 0
  private var faults: [Fault] = []
  /// The references that start at the top of the host, and are probably followed.
  private var absolute: [Fault] = []
  private var absoluteMarkup: [String] = []
  private var unique: Set<String> = []
  /// The files at addresses, empty if there is none.
  private var known: [String: String] = [:]
  private var judged = 0

  /// The number of references after which no more files are followed. Files count for every page that loads them with import maps of its own.
  private static let mostJudged = 2_000_000
  /// The number of findings for which the file that was probably meant is searched.
  private static let mostShown = 20
  /// The number of missing files that are looked for on the disk.
  private static let mostLooked = 1000

  /// - Parameter excluding: returns the pattern of the configuration that keeps a file out of the pack; nil if there is none, or no such file.
  init(_ pack: Pack, _ search: WebSearch, excluding: @escaping (_ path: String) -> String? = { _ in nil }) throws(PackError) {
    (self.pack, self.excluding) = (pack, excluding)
    (paths, hasPages) = (search.paths, search.hasPages)
    files = try search.finish(pack)
  }

  func run() throws(PackError) -> WebFaults {
    follow("index.html", .page, noMap)
    var next = 0
    while next < queue.count {
      try judge(queue[next].path, queue[next])
      next += 1
    }
    for path in paths where !seen.contains(path) { try judge(path, nil) }
    var result = try sentences()
    // Other packs may have what style sheets without pages refer to.
    guard hasPages else { return WebFaults(misspelled: result.misspelled) }
    result.serviceWorkers = paths.compactMap { path in
      files[path]?.serviceWorkerLine.map { "'\(printable(path.utf8))', line \($0), registers a service worker" }
    }
    addEncodings(to: &result)
    return result
  }

  /// Looks for texts that a browser reads wrongly. Scripts and style sheets are read in the encoding of their page.
  private func addEncodings(to result: inout WebFaults) {
    let texts = paths.compactMap { path in
      files[path]?.otherEncoding.map { (path: path, encoding: $0, isPage: WebFileKind(path: path) == .page) }
    }
    func isOther(_ encoding: String) -> Bool { !["", "utf-8", "utf8"].contains(encoding) }
    for text in texts where !isOther(text.encoding) {
      let name = "'\(printable(text.path.utf8))'"
      if text.isPage {
        result.unknownEncodings.append(
          text.encoding.isEmpty ? "\(name) is not in UTF-8 and does not say in what" : "\(name) says UTF-8, but is not")
      } else if !texts.contains(where: { $0.isPage && isOther($0.encoding) }) {
        result.foreignEncodings.append("\(name) is not in UTF-8, as its pages are")
      }
    }
  }

  private func follow(_ path: String, _ use: WebReference.Use, _ map: ImportMap) {
    guard files[path] != nil, judged < Self.mostJudged else { return }
    switch (use, WebFileKind(path: path)) {
    case (.page, .page), (.page, .xml), (.style, .style), (.script, .script), (.module, .script): break
    default: return
    }
    let role = use == .module ? "m\(map.number)" : use == .script ? "s" : ""
    guard visited.insert(path + "\0" + role).inserted else { return }
    seen.insert(path)
    queue.append(Visit(path, use, map))
  }

  // MARK: References

  private func judge(_ path: String, _ visit: Visit?) throws(PackError) {
    guard let references = files[path] else { return }
    judged += references.all.count
    let own = "/" + RequestTarget.encoded(path)
    var base = WebAddress(own, from: "/")
    if let address = references.base {
      let other = WebAddress(address, from: own)
      // One that only has a query or a fragment changes nothing.
      if other != .other || address.utf8.contains(UInt8(ascii: ":")) { base = other }
      if visit != nil, WebAddress.isAbsolute(address) {
        absoluteMarkup.append("'\(printable(path.utf8))' has the base '\(printable(address.utf8.prefix(200)))'")
      }
    }
    var map = visit?.map ?? noMap
    if !references.importMaps.isEmpty, case .path(let base) = base {
      mapCount += 1
      map = ImportMap(references.importMaps, base: base, number: mapCount)
      if visit != nil {
        absoluteMarkup += map.absolute.map { "'\(printable(path.utf8))' has '\(printable($0.utf8.prefix(200)))' in its import map" }
      }
    }
    var sets: [Int: [Fault]] = [:]
    for reference in references.all {
      // Only modules have imports.
      if reference.use == .specifier, visit?.use == .script, reference.isCertain { continue }
      let isCertain = reference.isCertain && visit != nil
      let fault = try fault(reference, in: path, own, base, map, isCertain: isCertain)
      if reference.use != .link, fault.kind == .there || isCertain && fault.kind == .missing, WebAddress.isAbsolute(reference.value),
        unique.insert("\(path)\0\(reference.line)\0\(reference.value)").inserted
      {
        // A style sheet loads what its rules need, but a text of a script may be no address at all.
        let isReference = visit != nil && reference.use != .address && reference.use != .mention
        absolute.append(Fault(fault.kind, path, reference, fault.target, address: nil, isCertain: isReference))
      }
      if let set = reference.alternatives {
        sets[set, default: []].append(fault)
        continue
      }
      add(fault, isCertain: isCertain)
      guard fault.kind == .there else { continue }
      if reference.use == .manifest { try readManifest(fault.target) }
      if isCertain { follow(fault.target, reference.use == .specifier ? .module : reference.use, map) }
    }
    for set in sets.values { judge(set) }
  }

  /// Reads a web app manifest of any name.
  private func readManifest(_ path: String) throws(PackError) {
    guard files[path] == nil, try pack.entry(at: path).size <= WebSearch.largestFile else { return }
    files[path] = WebReferences(in: try pack.read(path), "\(path).webmanifest")
    try judge(path, nil)
  }

  /// Judges alternatives: one of them is enough.
  private func judge(_ set: [Fault]) {
    if set.contains(where: { $0.kind == .there || $0.kind == .unknown }) {
      for fault in set where !fault.reference.isOptional { add(fault, isCertain: false) }
    } else if let first = set.first {
      // If some are foreign, others might be meant for use without a network.
      add(first, isCertain: first.isCertain && set.allSatisfy { ($0.kind == .foreign) == (first.kind == .foreign) })
    }
  }

  private func add(_ fault: Fault, isCertain: Bool) {
    let reference = fault.reference
    if reference.use == .mention, fault.kind != .missing { return }
    var kind = fault.kind
    switch kind {
    case .unknown: return
    case .there:
      // In addresses of an app's own scheme, only a slash separates.
      guard reference.hasBackslash else { return }
      kind = .backslash
    case .missing:
      // A server may answer an address without a name of a file.
      guard isCertain || reference.use != .address || fault.target.split(separator: "/").last?.contains(".") ?? false else { return }
    case .foreign:
      // A picture may name other hosts in its metadata, but loads nothing.
      guard reference.use != .link, isCertain || WebFileKind(path: fault.path) != .xml else { return }
    case .local, .bare, .backslash: break
    }
    let isCertain = isCertain && kind != .backslash
    guard unique.insert("\(fault.path)\0\(reference.line)\0\(isCertain)\0\(reference.value)").inserted else { return }
    faults.append(Fault(kind, fault.path, reference, fault.target, address: fault.address, isCertain: isCertain))
  }

  /// Finds out what a reference means.
  private func fault(
    _ reference: WebReference, in path: String, _ own: String, _ base: WebAddress, _ map: ImportMap, isCertain: Bool
  ) throws(PackError) -> Fault {
    var kind = Kind.unknown
    var target = ""
    var value: String? = reference.value
    var from = own
    switch base {
    case .path(let base):
      // The page of a script is not known, and most are at the top.
      from = reference.use == .mention && WebFileKind(path: path) == .script ? "/" : base
      if reference.use == .specifier {
        value = map.address(of: reference.value, in: base)
        if value == nil, isCertain, !map.isUnknown { kind = .bare }
      }
    case .foreign, .local, .other:
      // Of a page whose base is elsewhere.
      if case .path = WebAddress(reference.value, from: own) {
        value = nil
        kind = base == .foreign ? .foreign : .unknown
      }
    }
    if let value {
      (kind, target) = try resolve(value, from: from)
      // Relative to the page, which a script of its own does not know.
      if reference.use == .address, kind == .missing {
        let other = try resolve(value, from: "/")
        if other.0 == .there { (kind, target) = other }
      }
    }
    let isMapped =
      reference.use == .specifier && value.map { $0 != reference.value } == true && ![".", "/"].contains(reference.value.prefix(1))
    return Fault(kind, path, reference, target, address: isMapped ? value : nil, isCertain: isCertain)
  }

  private func resolve(_ value: String, from base: String) throws(PackError) -> (Kind, String) {
    switch WebAddress(value, from: base) {
    case .foreign: return (.foreign, "")
    case .local: return (.local, "")
    case .other: return (.unknown, "")
    case .path(let address):
      if known[address] == nil { known[address] = try file(at: address) }
      let found = known[address] ?? ""
      return found.isEmpty ? (.missing, Self.target(address)?.path ?? String(address.dropFirst())) : (.there, found)
    }
  }

  /// Returns the file that a server returns for an address, as ``PackResponder`` finds it; empty if there is none.
  private func file(at address: String) throws(PackError) -> String {
    guard let target = Self.target(address) else { return "" }
    for path in target.isDirectory ? [target.path + "index.html"] : [target.path, target.path + "/index.html"] {
      if path.utf8.count <= Limits.pathLength, let entry = try pack.find(path), entry.kind == .file { return path }
    }
    return ""
  }

  /// Returns the target of a request. Browsers escape blanks.
  private static func target(_ address: String) -> RequestTarget? {
    guard address.utf8.contains(0x20) else { return RequestTarget(address) }
    let parts = Array(address.utf8).split(separator: 0x20, omittingEmptySubsequences: false)
    return RequestTarget(parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "%20"))
  }

  // MARK: Sentences

  /// Returns faults in the order of files and lines, each reference once.
  private static func sorted(_ faults: [Fault]) -> [Fault] {
    // Sorted as texts: file, line, certain ones first.
    var order: [String: Fault] = [:]
    for fault in faults {
      let line = String(repeating: "0", count: 10 - String(fault.reference.line).utf8.count) + "\(fault.reference.line)"
      order["\(fault.path)\0\(line)\0\(fault.isCertain ? 0 : 1)\0\(fault.reference.value)"] = fault
    }
    var unique: Set<String> = []
    return order.keys.sorted().compactMap { order[$0] }.filter {
      unique.insert("\($0.path)\0\($0.reference.line)\0\($0.reference.value)").inserted
    }
  }

  private func sentences() throws(PackError) -> WebFaults {
    unique.removeAll()
    var sorted = Self.sorted(faults)
    let spelled = try spellings(of: sorted)
    sorted.removeAll { $0.reference.use == .mention && spelled[Self.key($0)] == nil }
    let near = try nearest(sorted.filter { $0.isCertain || spelled[Self.key($0)] == nil })
    var result = WebFaults()
    var known: [String: String?] = [:]
    for fault in sorted {
      let value = printable(fault.reference.value.utf8.prefix(200))
      if !fault.isCertain, fault.kind == .missing, let file = spelled[Self.key(fault)] {
        let sentence = "'\(printable(fault.path.utf8))' names '\(value)', but the file is '\(printable(file.utf8))'"
        if unique.insert(sentence).inserted { result.misspelled.append(sentence) }
        continue
      }
      var words = ("refers to", "")
      let file = fault.target + (fault.target.hasSuffix("/") ? "index.html" : "")
      if fault.kind == .missing, known[file] == nil, known.count < Self.mostLooked { known[file] = excluding(file) }
      let pattern = known[file] ?? nil
      switch fault.kind {
      case .missing where pattern != nil: words.1 = ", which '\(pattern ?? "")' in packer.yml excludes"
      case .missing: words.1 = near[fault.target].map { "; the pack has '\(printable($0.utf8))'" } ?? ", which the pack does not have"
      case .local: words.1 = ", a file of a developer's computer"
      case .backslash: words.1 = ", whose backslash is no slash in addresses of apps"
      case .bare: words = ("imports", ", which no import map of the page has")
      case .foreign: words.0 = "loads"
      case .there, .unknown: break
      }
      let address = fault.address.map { " (\(printable($0.utf8.prefix(200))))" } ?? ""
      let sentence = "'\(printable(fault.path.utf8))', line \(fault.reference.line), \(words.0) '\(value)'\(address)\(words.1)"
      switch (fault.kind == .foreign, fault.isCertain) {
      case (true, true): result.foreign.append(WebFaults.ForeignLoad(sentence: sentence, address: fault.reference.value))
      case (true, false): result.foreignGuesses.append(sentence)
      case (false, true): result.missing.append(sentence)
      case (false, false) where pattern != nil: result.excluded.append(sentence)
      case (false, false): result.doubtful.append(sentence)
      }
    }
    result.absolute = absoluteMarkup
    for fault in Self.sorted(absolute) {
      let value = printable(fault.reference.value.utf8.prefix(200))
      let sentence = "'\(printable(fault.path.utf8))', line \(fault.reference.line), refers to '\(value)'"
      if fault.isCertain { result.absolute.append(sentence) } else { result.absoluteGuesses.append(sentence) }
    }
    return result
  }

  /// The path that a fault means in lower case.
  private static func key(_ fault: Fault) -> String { (fault.target + (fault.target.hasSuffix("/") ? "index.html" : "")).lowercased() }

  /// Returns the files that the pack has in another case, by their paths in lower case.
  private func spellings(of faults: [Fault]) throws(PackError) -> [String: String] {
    let wanted = Set(faults.filter { $0.kind == .missing && !$0.isCertain }.map(Self.key))
    var files: [String: String] = [:]
    guard !wanted.isEmpty else { return files }
    try pack.forEachEntry { (entry) throws(PackError) in
      let key = entry.path.lowercased()
      if entry.kind == .file, wanted.contains(key) { files[key] = entry.path }
    }
    return files
  }

  /// Returns the paths that were probably meant by those that are shown.
  private func nearest(_ faults: [Fault]) throws(PackError) -> [String: String] {
    var counts = [0, 0]
    var targets: [String] = []
    var searches: [NearestPath] = []
    for fault in faults where fault.kind == .missing && counts[fault.isCertain ? 1 : 0] < Self.mostShown {
      counts[fault.isCertain ? 1 : 0] += 1
      targets.append(fault.target)
      searches.append(NearestPath(to: fault.target))
    }
    guard !targets.isEmpty else { return [:] }
    try pack.forEachEntry { (entry) throws(PackError) in
      guard entry.kind == .file else { return }
      for index in searches.indices { searches[index].look(at: entry.path) }
    }
    var near: [String: String] = [:]
    for index in targets.indices { near[targets[index]] = searches[index].path }
    return near
  }
}
