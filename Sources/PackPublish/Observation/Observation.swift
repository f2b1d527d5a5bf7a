/// What access logs say of releases.
///
/// Requests, responses and bytes are exact. Devices are told apart by address and agent, of which only a salted hash is kept, so several behind one address
/// may count as one: what depends on them is an estimate. Memory depends on the releases, and not on the logs: 40 MiB besides the files of the releases, of
/// which 32 are for the last 2^20 downloads in parts and the last 2^20 devices that requested a delta.
package struct Observation {
  /// What was requested of one file.
  package struct Counts: Hashable, Sendable {
    /// The GET requests.
    package var requests: UInt64 = 0
    /// Responses with the whole file (200), with a part (206), and without content, because it did not change (304).
    package var whole: UInt64 = 0
    package var parts: UInt64 = 0
    package var unchanged: UInt64 = 0
    /// Responses with an error, 400 to 599.
    package var failed: UInt64 = 0
    /// Requests that the device ended before there was a response.
    package var aborted: UInt64 = 0
    /// The bytes of responses with content, as the log counts them.
    package var bytes: UInt64 = 0
    /// Responses that had the whole file, and all its bytes were sent.
    package var wholeCompleted: UInt64 = 0
    /// Downloads in parts, or of which not all bytes were sent at first: how many began, and of how many a device got as many bytes as the file has.
    package var begun: UInt64 = 0
    package var joined: UInt64 = 0
    /// Of a pack: the devices that requested a delta to it, and those of them that then got the pack.
    package var devices: UInt64 = 0
    package var fallbacks: UInt64 = 0

    /// Estimated from the size of the file; 0 if it is not known.
    package var completed: UInt64 { wholeCompleted + joined }
    package var unfinished: UInt64 { begun.less(joined) }

    package static func + (left: Counts, right: Counts) -> Counts {
      var sum = left
      sum.requests += right.requests
      sum.whole += right.whole
      sum.parts += right.parts
      sum.unchanged += right.unchanged
      sum.failed += right.failed
      sum.aborted += right.aborted
      sum.bytes = sum.bytes.adding(right.bytes)
      sum.wholeCompleted += right.wholeCompleted
      sum.begun += right.begun
      sum.joined += right.joined
      sum.devices += right.devices
      sum.fallbacks += right.fallbacks
      return sum
    }
  }

  /// Responses of one file with one error.
  package struct Failure: Hashable, Sendable {
    package let file: Int
    package let status: Int
    package var count: UInt64 = 0
    /// The first and the last time, if the log says them.
    package var first: ManifestTime?
    package var last: ManifestTime?
  }

  /// The known files, then those of no known release, in the order in which they were first requested.
  package private(set) var files: [ObservedReleases.File]
  /// For each file.
  package private(set) var counts: [Counts]
  package let versions: [UInt64]
  /// All requests in the logs, and of these: for other names, of other methods, and before the time from which requests count.
  package private(set) var requests: UInt64 = 0
  package private(set) var others: UInt64 = 0
  package private(set) var otherMethods: UInt64 = 0
  package private(set) var earlier: UInt64 = 0
  /// Responses with content whose bytes the log does not say.
  package private(set) var unsized: UInt64 = 0
  /// The time of the first and the last request for a file.
  package private(set) var first: ManifestTime?
  package private(set) var last: ManifestTime?

  /// What is looked up for each request.
  private struct Trait {
    let kind: ObservedReleases.Kind
    let size: UInt64
    let target: Int?
    /// The number of its release.
    let release: Int?
  }

  /// What devices told of versions, by pack and version.
  private var told: [String: [UInt64: SeenCounts]] = [:]
  private var toldCount = 0
  private var traits: [Trait]
  private var failed: [UInt64: Failure] = [:]
  private var names: [UInt64: Int] = [:]
  private var downloads: ClientTable
  private var askers: ClientTable
  private var devices: [ClientCount]
  private var allDevices = ClientCount()
  private let hash: ClientHash
  private let since: Int64?
  private let mostNames: Int
  private var newNames = 0
  private var decoded: [UInt8] = []

  /// The most names of no known release, and the most pairs of a file and an error, that are told apart. Anybody can request names that do not exist.
  static let mostNames = 10_000
  static let mostFailures = 100_000

  /// - Parameters:
  ///   - since: the time from which requests count.
  ///   - salt: a random number.
  ///   - capacity: of the tables of devices, a power of two.
  package init(
    of releases: ObservedReleases, since: ManifestTime? = nil, salt: UInt64, capacity: Int = 1 << 20, mostNames: Int = Self.mostNames
  ) {
    (files, versions, self.since, self.mostNames) = (releases.files, releases.versions, since?.secondsSince1970, mostNames)
    hash = ClientHash(salt: salt)
    (downloads, askers) = (ClientTable(capacity: capacity), ClientTable(capacity: capacity))
    devices = Array(repeating: ClientCount(), count: releases.versions.count)
    // What is above the limit of names.
    files.append(.init(kind: .unknown, name: Self.otherNames))
    counts = Array(repeating: Counts(), count: files.count)
    rest = files.count - 1
    let numbers = Dictionary(uniqueKeysWithValues: releases.versions.enumerated().map { ($1, $0) })
    traits = files.map { Trait(kind: $0.kind, size: $0.size ?? 0, target: $0.target, release: $0.release.flatMap { numbers[$0] }) }
    for number in files.indices where number != rest { names[hash(name: files[number].name)] = number }
  }

  /// The number of the file that stands for names above the limit.
  private let rest: Int
  package static let otherNames = "other names"

  /// Counts the requests of a log.
  ///
  /// - Throws: as ``AccessLog/forEachRequest(read:_:)``.
  package mutating func add(_ log: AccessLog, read: @escaping (UInt64) -> Void = { _ in }) throws(PackError) -> AccessLog.Result {
    try log.forEachRequest(read: read) { line, request in add(request, line) }
  }

  /// Counts a request.
  mutating func add(_ request: LogRequest, _ line: Span<UInt8>) {
    requests += 1
    if let since, request.seconds.map({ $0 < since }) ?? true {
      earlier += 1
      return
    }
    let name = Self.component(line, request.target)
    if let file = Self.seenFile(line, request.target.lowerBound..<name.upperBound, name) {
      if request.isGet { note(file) } else { otherMethods += 1 }
      return
    }
    guard let file = file(line, name) else {
      others += 1
      return
    }
    guard request.isGet else {
      otherMethods += 1
      return
    }
    let time = request.seconds.flatMap { ManifestTime(secondsSince1970: $0) }
    if let time {
      first = min(first ?? time, time)
      last = max(last ?? time, time)
    }
    counts[file].requests += 1
    let client = hash.hash(line, request.agent, after: hash.hash(line, request.address))
    allDevices.add(client)
    let trait = traits[file]
    if let number = trait.release { devices[number].add(client) }
    if let target = trait.target { noteAsker(client, target) }
    switch request.status {
    case 200: add(request.bytes, of: file, isWhole: true, client)
    case 206: add(request.bytes, of: file, isWhole: false, client)
    case 304: counts[file].unchanged += 1
    case 0, 499: counts[file].aborted += 1
    case 400...599: fail(file, request.status, time)
    default: break
    }
  }

  private mutating func add(_ size: UInt64?, of file: Int, isWhole: Bool, _ client: UInt64) {
    if isWhole { counts[file].whole += 1 } else { counts[file].parts += 1 }
    if traits[file].kind == .pack { noteFallback(client, to: file) }
    guard let size else {
      unsized += 1
      return
    }
    counts[file].bytes = counts[file].bytes.adding(size)
    let whole = traits[file].size
    guard whole > 0 else { return }
    let key = hash.hash(UInt64(file), after: client)
    let known = downloads.value(of: key)
    if isWhole, size >= whole, known == nil {
      counts[file].wholeCompleted += 1
      return
    }
    if known == nil { counts[file].begun += 1 }
    let sum = (known ?? 0).adding(size)
    // A whole file after parts ends the same download.
    if sum >= whole || isWhole && size >= whole {
      counts[file].joined += 1
      downloads.remove(key)
    } else {
      downloads.set(key, to: sum)
    }
  }

  // MARK: Fall-backs

  /// What is kept of a device that requested a delta, and of one that then got the whole pack.
  private static let (asked, fellBack): (UInt64, UInt64) = (1, 2)

  private mutating func noteAsker(_ client: UInt64, _ target: Int) {
    let key = hash.hash(UInt64(target), after: client)
    guard askers.value(of: key) == nil else { return }
    askers.set(key, to: Self.asked)
    counts[target].devices += 1
  }

  private mutating func noteFallback(_ client: UInt64, to file: Int) {
    let key = hash.hash(UInt64(file), after: client)
    guard askers.value(of: key) == Self.asked else { return }
    askers.set(key, to: Self.fellBack)
    counts[file].fallbacks += 1
  }

  // MARK: Errors

  private mutating func fail(_ file: Int, _ status: Int, _ time: ManifestTime?) {
    counts[file].failed += 1
    var key = UInt64(file) << 16 | UInt64(status)
    var file = file
    if failed[key] == nil, failed.count >= Self.mostFailures { (file, key) = (rest, UInt64(rest) << 16 | UInt64(status)) }
    var failure = failed[key] ?? Failure(file: file, status: status)
    failure.count += 1
    if let time {
      failure.first = min(failure.first ?? time, time)
      failure.last = max(failure.last ?? time, time)
    }
    failed[key] = failure
  }

  /// The errors, the most frequent first.
  package var failures: [Failure] {
    failed.values.sorted { ($1.count, $0.file, $0.status) < ($0.count, $1.file, $1.status) }
  }

  // MARK: Results

  /// The sum of all files.
  package var total: Counts { counts.reduce(Counts(), +) }

  /// The sum of the files that a release was the first to have; for nil, of those of no known release.
  package func total(of version: UInt64?) -> Counts {
    files.indices.dropFirst().reduce(Counts()) { files[$1].release == version ? $0 + counts[$1] : $0 }
  }

  /// The requests that a server answered for names that may be those of deltas of no known release.
  package var unknownDeltas: UInt64 {
    files.indices.dropFirst().reduce(0) { sum, number in
      guard files[number].kind == .unknown else { return sum }
      return sum + counts[number].whole + counts[number].parts + counts[number].unchanged
    }
  }

  /// An estimate of the devices that requested anything, and of those that requested files that a release was the first to have.
  package var deviceEstimate: UInt64 { allDevices.estimate }
  package func deviceEstimate(of version: UInt64) -> UInt64 { versions.firstIndex(of: version).map { devices[$0].estimate } ?? 0 }

  /// How many downloads and devices were forgotten, because there were more than the tables hold at a time. If 0, no estimate suffers from that.
  package var forgotten: UInt64 { downloads.forgotten + askers.forgotten }

  // MARK: What devices tell

  /// Returns the file whose name tells of a version; nil if it is another one.
  private static func seenFile(_ line: Span<UInt8>, _ path: Range<Int>, _ name: Range<Int>) -> SeenFile? {
    // That of most requests begins otherwise.
    guard line.isText("confirmed", at: name) || name.count > 12 && line.isText("rolled-back-", at: name.lowerBound..<name.lowerBound + 12)
    else { return nil }
    let start = max(path.lowerBound, path.upperBound - longestSeenPath)
    return SeenFile(endOf: String(decoding: [UInt8](copying: line.extracting(start..<path.upperBound)), as: UTF8.self))
  }

  private static let longestSeenPath = Limits.nameLength + 60

  private mutating func note(_ file: SeenFile) {
    if told[file.id]?[file.version] == nil {
      // Anybody can request names that do not exist.
      guard toldCount < mostNames else {
        others += 1
        return
      }
      toldCount += 1
    }
    told[file.id, default: [:]][file.version, default: SeenCounts(id: file.id, version: file.version)].add(file)
  }

  /// What devices told, by pack and then by version, the newest version first.
  package var seen: [SeenCounts] {
    told.sorted { $0.key.precedes($1.key) }.flatMap { $0.value.values.sorted { $0.version > $1.version } }
  }

  // MARK: Names

  /// Returns the place of the last component of a path, without a query.
  static func component(_ line: Span<UInt8>, _ target: Range<Int>) -> Range<Int> {
    var start = target.lowerBound
    var index = start
    while index < target.upperBound {
      switch line[index] {
      case UInt8(ascii: "/"): start = index + 1
      case UInt8(ascii: "?"), UInt8(ascii: "#"): return start..<index
      default: break
      }
      index += 1
    }
    return start..<index
  }

  /// Returns the number of the file with a name, or nil if devices request no such file.
  private mutating func file(_ line: Span<UInt8>, _ place: Range<Int>) -> Int? {
    // That of the longest name, each byte of which is encoded.
    guard (1...3 * Self.longestName).contains(place.count) else { return nil }
    if place.contains(where: { line[$0] == UInt8(ascii: "%") }) {
      var bytes = decoded
      decoded = []
      Self.decode(line, place, into: &bytes)
      defer { decoded = bytes }
      return file(bytes.byteSpan, 0..<bytes.count, line)
    }
    return file(line, place, line)
  }

  private mutating func file(_ line: Span<UInt8>, _ place: Range<Int>, _ whole: Span<UInt8>) -> Int? {
    let key = hash.hash(line, place)
    // A hash is not proof.
    if let known = names[key], Self.isName(line, place, files[known].name) { return known }
    guard names[key] == nil, let kind = Self.kind(line, place) else { return nil }
    guard newNames < mostNames else { return rest }
    newNames += 1
    names[key] = files.count
    files.append(.init(kind: kind, name: String(decoding: [UInt8](copying: line.extracting(place)), as: UTF8.self)))
    counts.append(Counts())
    traits.append(Trait(kind: kind, size: 0, target: nil, release: nil))
    return files.count - 1
  }

  private func hash(name: String) -> UInt64 { name.withBytes { hash.hash($0, 0..<$0.count) } }

  private static func isName(_ line: Span<UInt8>, _ place: Range<Int>, _ name: String) -> Bool {
    name.withBytes { equal($0, line.extracting(place)) }
  }

  /// An id, a hyphen, 16 digits and the longest ending.
  private static let longestName = Limits.nameLength + 17 + Shard.fileExtension.utf8.count

  /// Returns the kind of a file by its name, which then consists of what ids consist of, so that it can be printed; nil if the name has not the form of
  /// those that 'packer build' gives.
  static func kind(_ line: Span<UInt8>, _ place: Range<Int>) -> ObservedReleases.Kind? {
    guard place.count <= longestName else { return nil }
    func ends(_ ending: StaticString) -> Bool {
      let count = ending.utf8CodeUnitCount
      return place.count > count && line.isText(ending, at: place.upperBound - count..<place.upperBound)
    }
    let (kind, ending): (ObservedReleases.Kind, Int)
    if ends(".pack") {
      (kind, ending) = (.unknown, 5)
    } else if ends(".lead") {
      (kind, ending) = (.lead, 5)
    } else if ends(".shard") {
      (kind, ending) = (.shard, 6)
    } else {
      return nil
    }
    let digits = place.upperBound - ending - 16
    guard digits - 2 >= place.lowerBound, line[digits - 1] == UInt8(ascii: "-") else { return nil }
    for index in digits..<digits + 16 where hexDigit(line[index]) == nil { return nil }
    let id = String(decoding: [UInt8](copying: line.extracting(place.lowerBound..<digits - 1)), as: UTF8.self)
    return (try? PackName(id)) == nil ? nil : kind
  }

  /// Decodes percent signs with two digits after them. Others stay as they are.
  private static func decode(_ line: Span<UInt8>, _ place: Range<Int>, into bytes: inout [UInt8]) {
    bytes.removeAll(keepingCapacity: true)
    var index = place.lowerBound
    while index < place.upperBound {
      if line[index] == UInt8(ascii: "%"), index + 2 < place.upperBound, let high = hexDigit(line[index + 1] | 0x20),
        let low = hexDigit(line[index + 2] | 0x20)
      {
        bytes.append(high << 4 | low)
        index += 3
      } else {
        bytes.append(line[index])
        index += 1
      }
    }
  }
}
