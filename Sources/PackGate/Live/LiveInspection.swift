/// Asks the server for a release, a batch at a time.
struct LiveInspection {
  let plan: LivePlan
  let fetcher: any LiveFetcher
  let files: any FileSystem

  /// The most files, and the most bytes of files that are read whole, of which a batch has at least one. Their bodies are on the disk at once.
  private static let (mostFiles, mostBytes): (Int, UInt64) = (48, 256 << 20)
  /// The time between two requests for the manifest, in seconds.
  private static let interval = 5

  /// - Throws: ``PackError/Code/serverUnreachable`` if the manifest's server does not answer at all, or says that it cannot now, or the error of a file on this machine.
  func run(progress: ProgressHandler? = nil) async throws(PackError) -> LiveSighting {
    var visitor = LiveVisitor(fetcher, allowLists: plan.allowLists)
    var state = try plan.statePath.map { (path) throws(PackError) in try LiveState(path, now: plan.now, files: files) }
    var faults = try await manifestFaults(&visitor)
    var (known, read, done): (Int, Int, UInt64) = (0, 0, 0)
    let total = plan.files.reduce(0 as UInt64) { $0.adding(plan.isWhole($1) ? $1.size ?? 0 : 0) }
    var rest = plan.files[...]
    while !rest.isEmpty {
      try Task.checkpoint()
      let batch = next(&rest)
      let answers = try await ask(batch, state, &visitor)
      for (file, answers) in zip(batch, answers) {
        let found = LiveJudgement.faults(of: file, answers, plan)
        faults += found
        if answers.whole?.status == 304 { known += 1 }
        if let whole = answers.whole, whole.status == 200 {
          read += 1
          // What has findings is read again.
          if found.isEmpty, whole.sha256 == file.sha256, LiveHeaders(whole).encoding == nil {
            state?.add(file, whole)
          } else {
            state?.remove(file)
          }
        }
        if plan.isWhole(file) { done += file.size ?? 0 }
      }
      try state?.write()
      progress?(PackProgress(phase: .verifying, done: done, total: total))
    }
    return LiveSighting(faults: visitor.faults + faults, summary: summary(read: read, known: known))
  }

  static func pause(_ duration: Duration) async throws(PackError) {
    do {
      try await Task.sleep(for: duration)
    } catch {
      throw PackError(.cancelled, "cancelled")
    }
  }

  private func summary(read: Int, known: Int) -> String {
    let earlier = plan.files.count { $0.kind == .earlier }
    let later = plan.files.count { $0.kind == .notYet }
    var parts = [plan.manifestURL, "\(plan.files.count - earlier - later) files, \(read) read whole"]
    if known > 0 { parts.append("\(known) unchanged since they were read") }
    if earlier > 0 { parts.append("\(earlier) of earlier releases") }
    if later > 0 { parts.append("\(later) that must not be there yet") }
    return parts.joined(separator: ", ") + ", samples of seed \(plan.seed)"
  }

  private func manifestFaults(_ visitor: inout LiveVisitor) async throws(PackError) -> [LiveFault] {
    var request = LiveRequest(url: plan.manifestURL, limit: UInt64(Manifest.largestSize), keepsBytes: true, fields: plan.fields)
    var answer = try await visitor.ask([request])[0]
    for _ in 0..<plan.patience / Self.interval
    where answer.bytes != plan.manifest && !answer.isSilent && LiveHeaders(answer).encoding == nil {
      try await Self.pause(.seconds(Self.interval))
      visitor = LiveVisitor(fetcher, allowLists: plan.allowLists)
      answer = try await visitor.ask([request])[0]
    }
    guard !answer.isBusy else {
      throw PackError(
        .serverUnreachable, of: plan.manifestURL, "answers \(answer.status), after several attempts",
        hint: "try again when the server works; the release there is not known to have a fault")
    }
    guard !answer.isSilent else {
      throw PackError(
        .serverUnreachable, of: plan.manifestURL, "cannot be reached: \(answer.failureText)",
        hint: "check the address, and the network of this machine")
    }
    var others: [LiveAnswer] = []
    if LiveHeaders(answer).encoding != nil {
      request.allowsEncoding = false
      var decoded = request
      decoded.isDecoded = true
      others = try await visitor.ask([request, decoded])
    }
    return LiveJudgement.faults(ofManifest: answer, others: others, plan)
  }

  /// Takes the files of the next batch.
  private func next(_ rest: inout ArraySlice<LiveFile>) -> [LiveFile] {
    var batch: [LiveFile] = []
    var bytes: UInt64 = 0
    while let file = rest.first, batch.count < Self.mostFiles {
      bytes = bytes.adding(plan.isWhole(file) ? file.size ?? 0 : 0)
      guard batch.isEmpty || bytes <= Self.mostBytes else { break }
      batch.append(file)
      rest.removeFirst()
    }
    return batch
  }

  private func ask(_ batch: [LiveFile], _ state: LiveState?, _ visitor: inout LiveVisitor) async throws(PackError) -> [LiveJudgement
    .Answers]
  {
    var answers = batch.map { _ in LiveJudgement.Answers() }
    let samples = batch.enumerated().flatMap { number, file in plan.samples(of: file).map { (number: number, range: $0) } }
    let parts = try await visitor.ask(
      samples.map { sample in
        LiveRequest(
          url: batch[sample.number].url, range: sample.range, limit: UInt64(sample.range.count), keepsBytes: true, fields: plan.fields)
      })
    for (sample, answer) in zip(samples, parts) {
      answers[sample.number].samples.append((sample.range, answer, bytes(sample.range, of: batch[sample.number])))
    }
    let whole = batch.indices.filter { number in
      plan.isWhole(batch[number]) && answers[number].samples.allSatisfy { [200, 206, 416].contains($0.answer.status) }
    }
    let requests = whole.map { number in
      let file = batch[number]
      var request = LiveRequest(url: file.url, limit: file.size ?? 0, fields: plan.fields)
      if !plan.isExample(file), let condition = state?.condition(for: file) {
        request.fields.append(condition)
        answers[number].isKnown = true
      }
      return request
    }
    for (number, answer) in zip(whole, try await visitor.ask(requests)) { answers[number].whole = answer }
    return answers
  }

  /// Returns the bytes that a file has on this machine; nil if it is not there, or another one.
  private func bytes(_ range: ClosedRange<UInt64>, of file: LiveFile) -> [UInt8]? {
    guard let path = file.path, let (opened, status) = try? files.openFile(path), file.size.map({ $0 == status.size }) ?? true else {
      return nil
    }
    var bytes = [UInt8](repeating: 0, count: range.count)
    var span = bytes.mutableByteSpan
    guard (try? files.readExactly(opened, at: range.lowerBound, into: &span, name: path)) != nil else { return nil }
    return bytes
  }
}
