/// Decides what is wrong with answers. It asks nothing itself.
enum LiveJudgement {
  /// The answers for one file.
  struct Answers {
    /// The parts that were asked for, with the bytes that the file has there on this machine, if it is there.
    var samples: [(range: ClosedRange<UInt64>, answer: LiveAnswer, expected: [UInt8]?)] = []
    /// The answer to a request for the whole file.
    var whole: LiveAnswer?
    /// Whether that asked only if the file changed since it was read.
    var isKnown = false

    var all: [LiveAnswer] { samples.map(\.answer) + (whole.map { [$0] } ?? []) }
  }

  /// A day, in seconds: the least time for which caches should keep a pack.
  private static let day: UInt64 = 86_400
  /// The longest time in seconds for which caches should keep a manifest, and for which a copy may be older than it should be.
  private static let (hour, leeway): (UInt64, UInt64) = (3600, 60)

  /// Returns the faults of a file, each kind once.
  static func faults(of file: LiveFile, _ answers: Answers, _ plan: LivePlan) -> [LiveFault] {
    if file.kind == .notYet {
      guard answers.all.contains(where: { [200, 206].contains($0.status) }) else { return [] }
      return [LiveFault(kind: .early, pack: file.pack, message: "\(file.url) is there, and opens its pack before its time")]
    }
    var faults: [LiveFault] = []
    func add(_ kind: LiveFault.Kind, _ message: String, isLesser: Bool = false, actual: UInt64? = nil, limit: UInt64? = nil) {
      guard !faults.contains(where: { $0.kind == kind }) else { return }
      faults.append(
        LiveFault(kind: kind, pack: file.pack, message: "\(file.url) \(message)", isLesser: isLesser, actual: actual, limit: limit))
    }
    for answer in answers.all {
      if answer.isUnasked || answer.isInsecure || answer.isSilent { return [] }
      if var refusal = answer.refusal {
        refusal.pack = file.pack
        return [refusal]
      }
      guard answer.status == 0 || [200, 206, 304, 416].contains(answer.status) else {
        if file.kind == .earlier, !answer.isBusy {
          add(.goneEarlier, "answers \(answer.status), and manifest \(file.release), which devices may have, names it")
        } else {
          add(answer.fault, "answers \(answer.status)")
        }
        return faults
      }
      if answer.failure != 0, answer.failure != LiveAnswer.tooLarge {
        let count = answer.received > 0 ? " after \(answer.received) bytes" : ""
        add(.incomplete, "cannot be downloaded\(count): \(answer.failureText)")
        return faults
      }
    }
    func size(_ found: UInt64) {
      guard let size = file.size, found != size else { return }
      add(.size, "has \(found) bytes, but the manifest says \(size)", actual: found, limit: size)
    }
    for answer in answers.all {
      guard let encoding = LiveHeaders(answer).encoding else { continue }
      add(.encoding, "is sent with the encoding '\(encoding)'")
    }
    var isSound = false
    if let whole = answers.whole, whole.status == 200, faults.isEmpty {
      let length = LiveHeaders(whole).length
      if let length { size(length) } else if whole.failure != LiveAnswer.tooLarge { size(whole.received) }
      // Then no more of it was fetched.
      if faults.isEmpty, whole.failure == LiveAnswer.tooLarge { add(.size, "has more than the \(file.size ?? 0) bytes of the manifest") }
      if faults.isEmpty, let digest = whole.sha256 {
        isSound = digest == file.sha256
        if !isSound { add(.content, "has other bytes: their SHA-256 is \(digest.hex), not \(file.sha256.hex)") }
      }
      if length == nil { add(.noLength, "is sent without its length") }
    } else if let whole = answers.whole, whole.status == 206 || whole.status == 416 || whole.status == 304 && !answers.isKnown {
      add(.wrongRange, "answers \(whole.status) to a request for the whole file")
    }
    for (range, answer, expected) in answers.samples where faults.allSatisfy({ $0.kind == .noLength }) {
      let asked = "bytes \(range.lowerBound) to \(range.upperBound)"
      guard answer.status != 200 else {
        let length = LiveHeaders(answer).length
        if let length { size(length) } else if answer.failure == 0 { size(answer.received) }
        // A whole body, such as that of a page in place of a file that is gone.
        if faults.allSatisfy({ $0.kind == .noLength }), answer.failure == 0, let digest = answer.sha256, digest != file.sha256 {
          add(file.kind == .earlier ? .goneEarlier : .content, "answers \(asked) with another file")
          continue
        }
        if length == nil, answer.failure == LiveAnswer.tooLarge, (file.size ?? .max) <= UInt64(range.count) {
          add(.size, "has more than the \(file.size ?? 0) bytes of the manifest")
        }
        // A small file is one part.
        if (file.size ?? .max) > UInt64(range.count) { add(.noResumption, "is sent whole to a device that asks for \(asked)") }
        continue
      }
      guard answer.status == 206, answer.failure == 0, let part = LiveHeaders(answer).part else {
        add(.wrongRange, "answers \(answer.status) without the part to a request for \(asked)")
        continue
      }
      size(part.total)
      guard (part.first, part.last, answer.received) == (range.lowerBound, range.upperBound, UInt64(range.count)) else {
        add(.wrongRange, "sends bytes \(part.first) to \(part.last) (\(answer.received) of them) to a request for \(asked)")
        continue
      }
      guard let expected, let bytes = answer.bytes, bytes != expected else { continue }
      if isSound {
        add(.wrongRange, "sends other bytes than the file has to a request for \(asked)")
      } else {
        add(.content, "has other \(asked)")
      }
    }
    if file.kind != .earlier, let answer = answers.all.last(where: { [200, 206].contains($0.status) }) {
      faults += Self.faults(of: answer, url: file.url, pack: file.pack)
      if plan.isForBrowsers, let fault = unshared(answer) { add(.sharing, fault) }
      let isPlain = answers.all.allSatisfy { LiveHeaders($0).encoding == nil }
      let validators = answers.all.filter { [200, 206].contains($0.status) }.map { LiveHeaders($0).validator }
      // Not without any, which the answer shows.
      if isPlain, let first = validators.first, first != nil, !validators.allSatisfy({ $0 == first }) {
        add(.noResumption, "has another ETag or date in each answer")
      }
    }
    return faults
  }

  /// Returns the faults of the header fields with a pack, a delta or a shard.
  static func faults(of answer: LiveAnswer, url: String, pack: String?) -> [LiveFault] {
    var faults: [LiveFault] = []
    func add(_ kind: LiveFault.Kind, _ message: String, isLesser: Bool = false, actual: UInt64? = nil, limit: UInt64? = nil) {
      faults.append(LiveFault(kind: kind, pack: pack, message: "\(url) \(message)", isLesser: isLesser, actual: actual, limit: limit))
    }
    let headers = LiveHeaders(answer)
    if headers.validator == nil {
      add(.noResumption, "has neither a strong ETag nor Last-Modified")
    } else if headers.fields["accept-ranges"]?.lowercased() == "none" {
      add(.noResumption, "has 'Accept-Ranges: none'")
    }
    if let type = headers.type, isText(type) { add(.type, "has the type '\(type)', which servers on the way may compress or change") }
    if headers.isUncached {
      add(.shortCaching, "has 'Cache-Control: \(headers.fields["cache-control"] ?? "")', so that no cache may keep it")
    } else if let lifetime = headers.lifetime {
      if lifetime < day { add(.shortCaching, "may be kept by caches for \(lifetime) s", actual: lifetime, limit: day) }
    } else {
      add(.shortCaching, "does not say how long caches may keep it", isLesser: true)
    }
    if let fault = stale(headers) { add(.stale, fault) }
    return faults
  }

  /// Returns the faults of the answer with the manifest.
  ///
  /// - Parameter others: the same without an encoding, and decoded, if the answer has one. A cache may have each of them from another time.
  static func faults(ofManifest answer: LiveAnswer, others: [LiveAnswer], _ plan: LivePlan) -> [LiveFault] {
    let url = plan.manifestURL
    if answer.isUnasked || answer.isInsecure || answer.isSilent { return [] }
    if let refusal = answer.refusal { return [refusal] }
    guard answer.status == 200 else { return [LiveFault(kind: answer.fault, message: "\(url) answers \(answer.status)")] }
    var faults: [LiveFault] = []
    func add(_ kind: LiveFault.Kind, _ message: String, isLesser: Bool = false, actual: UInt64? = nil, limit: UInt64? = nil) {
      faults.append(LiveFault(kind: kind, message: "\(url) \(message)", isLesser: isLesser, actual: actual, limit: limit))
    }
    let headers = LiveHeaders(answer)
    if let encoding = headers.encoding {
      add(.encoding, "is sent with the encoding '\(encoding)', which the declared sizes do not have", isLesser: true)
    }
    let sent = others.first { $0.failure != 0 || $0.bytes != plan.manifest } ?? others.first ?? answer
    if sent.failure != 0, sent.failure != LiveAnswer.tooLarge {
      add(.incomplete, "cannot be downloaded: \(sent.failureText)")
    } else if sent.bytes != plan.manifest {
      let found = sent.bytes.flatMap(version)
      let what =
        switch found {
        case nil: "sends no manifest"
        case plan.version?: "sends another manifest \(plan.version) than the release has"
        case let version?: "sends manifest \(version), but the release has manifest \(plan.version)"
        }
      let age = headers.age.map { ", from a cache that has it since \($0) s" } ?? ""
      add(.otherManifest, what + age, actual: found, limit: plan.version)
    }
    if headers.type == "text/html" { add(.type, "has the type 'text/html'") }
    if plan.isForBrowsers, let fault = unshared(answer) { add(.sharing, fault) }
    if let lifetime = headers.lifetime {
      if lifetime > hour { add(.longCaching, "may be kept by caches for \(lifetime) s", actual: lifetime, limit: hour) }
    } else {
      add(.longCaching, "does not say how long caches may keep it", isLesser: true)
    }
    if let fault = stale(headers) { add(.stale, fault) }
    if let times = headers.times {
      let now = plan.now.secondsSince1970
      let gap = max(times.lowerBound - now, now - times.upperBound)
      if gap > Int64(day) {
        let date = headers.fields["date"] ?? ""
        add(.clock, "says that it is \(date), and this machine that it is \(plan.now)", isLesser: gap <= BuildTime.tolerance)
      }
    }
    if let end = answer.certificateEnd, let last = time(end), last.secondsSince1970 - plan.now.secondsSince1970 < 14 * Int64(day) {
      add(.certificate, "has a certificate that ends at \(last)")
    }
    return faults
  }

  /// Returns why pages of other sites cannot read an answer; nil if those of some can.
  private static func unshared(_ answer: LiveAnswer) -> String? {
    guard answer.fields["access-control-allow-origin"]?.isEmpty != false else { return nil }
    return "has no Access-Control-Allow-Origin, so that pages of other sites cannot read it"
  }

  /// Returns what is wrong with the age of a copy; nil if it is not too old.
  private static func stale(_ headers: LiveHeaders) -> String? {
    guard let age = headers.age, let lifetime = headers.lifetime, age > lifetime.adding(leeway) else { return nil }
    return "comes from a cache that has it since \(age) s, although it may keep it for \(lifetime) s"
  }

  private static func isText(_ type: String) -> Bool {
    type.hasPrefix("text/") || type.hasSuffix("json") || type.hasSuffix("xml") || type.hasSuffix("javascript")
  }

  /// Reads the version of a manifest, whose signature is not checked.
  private static func version(_ bytes: [UInt8]) -> UInt64? {
    guard let signed = try? SignedManifest(bytes) else { return nil }
    return (try? Manifest(parsing: signed.bytes.byteSpan, signed.signedBytes))?.version
  }

  /// Reads a time such as `Nov 27 14:00:00 2026 GMT`.
  static func time(_ text: String) -> ManifestTime? {
    let parts = text.split(separator: " ")
    guard parts.count == 5, parts[4] == "GMT" else { return nil }
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    guard let month = months.firstIndex(of: String(parts[0])) else { return nil }
    func digits(_ text: String) -> String { text.utf8.count < 2 ? "0\(text)" : text }
    return ManifestTime("\(parts[3])-\(digits("\(month + 1)"))-\(digits(String(parts[1])))T\(parts[2])Z")
  }
}
