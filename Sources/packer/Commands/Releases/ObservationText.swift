/// Formats what access logs say of releases.
struct ObservationText {
  /// Lines of text, and the records that say the same.
  struct Part {
    let records: [JSON]
    let lines: [String]
  }

  private let observation: Observation
  /// The largest number of files of a release, and of errors, that are shown as text.
  private static let most = 20

  init(_ observation: Observation) { self.observation = observation }

  // MARK: All

  private var summary: Part { Part(records: [json], lines: overview) }

  private var overview: [String] {
    let total = observation.total
    var lines = [
      "\(span ?? "no time"): \(Table.count(total.requests, "request", "requests")) for files of releases, from about "
        + "\(Table.count(observation.deviceEstimate, "device", "devices")); \(total.failed) failed (\(ShareLimit.percent(total.failed, of: total.requests)))"
    ]
    let apart = [
      (observation.others, "for other files"), (observation.otherMethods, "other than GET"), (observation.earlier, "before --since"),
    ]
    let left = apart.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    if !left.isEmpty { lines.append("  not counted: \(left.joined(separator: ", "))") }
    if observation.unsized > 0 {
      lines.append(
        "  \(Table.count(observation.unsized, "response has", "responses have")) no size in the log, so whether they are complete is not known"
      )
    }
    if observation.forgotten > 0 {
      lines.append(
        "  \(observation.forgotten) unfinished downloads and devices were forgotten, so downloads in parts and fall-backs are too few")
    }
    if total.devices > 0 {
      lines.append(
        "  fall-backs: \(total.fallbacks) of \(Table.count(total.devices, "device", "devices")) that requested a delta then fetched the whole pack "
          + "(\(ShareLimit.percent(total.fallbacks, of: total.devices)), an estimate)")
    }
    return lines
  }

  private var json: JSON {
    [
      "type": "observation", "first": .text(observation.first?.description), "last": .text(observation.last?.description),
      "allRequests": .number(observation.requests), "otherFiles": .number(observation.others),
      "otherMethods": .number(observation.otherMethods), "earlier": .number(observation.earlier), "unsized": .number(observation.unsized),
      "forgotten": .number(observation.forgotten), "deviceEstimate": .number(observation.deviceEstimate),
      "counts": Self.json(observation.total),
    ]
  }

  private var span: String? {
    guard let first = observation.first, let last = observation.last else { return nil }
    return "\(first) to \(last)"
  }

  // MARK: Parts

  /// The sum, the manifest, each release, what is of no known release, the errors, and what devices told.
  var parts: [Part] { [summary, manifest] + releases + [unknown, failures].compactMap(\.self) + told }

  private var manifest: Part {
    let counts = observation.counts[0]
    return Part(
      records: [file(0)],
      lines: [
        "\(ReleaseFile.manifest): \(Table.count(counts.requests, "request", "requests")), \(counts.unchanged) unchanged (304), "
          + "\(counts.whole) fetched, \(counts.failed) failed"
      ])
  }

  private var releases: [Part] {
    observation.versions.reversed().compactMap { version in
      let (counts, devices) = (observation.total(of: version), observation.deviceEstimate(of: version))
      // Of the many recorded ones, only those that devices still use.
      guard counts.requests > 0 || version == observation.versions.last else { return nil }
      let table = table(observation.files.indices.filter { observation.files[$0].release == version })
      return Part(
        records: [
          ["type": "release", "manifest": .number(version), "deviceEstimate": .number(devices), "counts": Self.json(counts)]
        ] + table.records,
        lines: [
          "manifest \(version): \(Table.count(counts.requests, "request", "requests")) for its new files, from about "
            + "\(Table.count(devices, "device", "devices")); \(counts.failed) failed"
        ] + table.lines)
    }
  }

  private var unknown: Part? {
    let counts = observation.total(of: nil)
    guard counts.requests > 0 else { return nil }
    let table = table(observation.files.indices.dropFirst().filter { observation.files[$0].release == nil })
    return Part(
      records: [["type": "otherReleases", "counts": Self.json(counts)]] + table.records,
      lines: ["of no known release: \(Table.count(counts.requests, "request", "requests")); \(counts.failed) failed"] + table.lines)
  }

  /// The files that were requested, the most frequent first.
  private func table(_ numbers: [Int]) -> Part {
    let asked = numbers.filter { observation.counts[$0].requests > 0 }.sorted {
      (observation.counts[$1].requests, $0) < (observation.counts[$0].requests, $1)
    }
    guard !asked.isEmpty else { return Part(records: [], lines: []) }
    let rows = asked.prefix(Self.most).map { number in
      let (file, counts) = (observation.files[number], observation.counts[number])
      // Without the size, it is not known what is complete.
      let progress = file.size == nil ? ["?", "?"] : ["\(counts.completed)", "\(counts.unfinished)"]
      return [file.name, Self.title(file), "\(counts.requests)"] + progress + ["\(ByteCount(counts.bytes))", "\(counts.failed)"]
    }
    let heading = ["file", "what", "requests", "complete", "unfinished", "sent", "failed"]
    return Part(
      records: asked.map(file),
      lines: Table.columns([heading] + rows, numbers: [2, 3, 4, 5, 6]) + Self.more(asked.count, "files"))
  }

  private static func title(_ file: ObservedReleases.File) -> String {
    let pack = file.pack.map { pack in "\(pack) \(file.version.map { "\($0)" } ?? "")" } ?? ""
    switch file.kind {
    case .manifest, .shard: return file.kind.rawValue
    case .pack: return "pack \(pack)"
    case .lead: return pack.isEmpty ? "lead" : "lead of \(pack)"
    case .delta: return "delta to \(pack) from \(file.bases.joined(separator: " and "))"
    case .unknown: return file.name == Observation.otherNames ? "" : "pack or delta"
    }
  }

  private var failures: Part? {
    let failures = observation.failures
    guard !failures.isEmpty else { return nil }
    let rows = failures.prefix(Self.most).map { failure in
      let times = failure.first.flatMap { first in failure.last.map { first == $0 ? "at \(first)" : "from \(first) to \($0)" } } ?? ""
      return ["\(failure.status)", "\(failure.count)", observation.files[failure.file].name, times]
    }
    let records = failures.map { failure -> JSON in
      let file = observation.files[failure.file]
      return [
        "type": "error", "status": .number(failure.status), "count": .number(failure.count), "name": .text(file.name),
        "kind": .text(file.kind.rawValue), "first": .text(failure.first?.description), "last": .text(failure.last?.description),
      ]
    }
    return Part(records: records, lines: ["errors"] + Table.columns(rows, numbers: [0, 1]) + Self.more(failures.count, "errors"))
  }

  /// What devices told of each version by *seen* files, beside the version before it.
  private var told: [Part] {
    let seen = observation.seen
    return seen.enumerated().map { number, counts in
      let before = number + 1 < seen.count && seen[number + 1].id == counts.id ? seen[number + 1] : nil
      let outcomes = SeenFile.Outcome.allCases.filter { counts.count($0) > 0 }
      let list = outcomes.map { "\($0.rawValue) \(counts.count($0))" }.joined(separator: ", ")
      let smallest = before.map { SeenCounts.smallestDifference(counts, $0) }
      var lines = [
        "\(counts.id) \(counts.version): rolled back on \(ShareLimit.percent(counts.rolledBack)) of devices, by "
          + "\(Table.count(counts.reports, "seen file", "seen files")) (\(list))"
      ]
      if let before, let smallest {
        lines.append(
          "  version \(before.version): \(ShareLimit.percent(before.rolledBack)); a difference below \(ShareLimit.percent(smallest)) is chance"
        )
      }
      let told = outcomes.map { outcome -> JSON in ["outcome": .text(outcome.rawValue), "count": .number(counts.count(outcome))] }
      return Part(
        records: [
          [
            "type": "seen", "id": .text(counts.id), "version": .number(counts.version), "reports": .number(counts.reports),
            "rolledBack": .text(ShareLimit.percent(counts.rolledBack)), "before": before.map { .number($0.version) },
            "smallestDifference": smallest.map { .text(ShareLimit.percent($0)) }, "outcomes": .list(told),
          ]
        ], lines: lines)
    }
  }

  private static func more(_ count: Int, _ noun: String) -> [String] {
    count > most ? ["  and \(count - most) more \(noun); --json has all"] : []
  }

  // MARK: Records

  private func file(_ number: Int) -> JSON {
    let file = observation.files[number]
    return [
      "type": "file", "name": .text(file.name), "kind": .text(file.kind.rawValue), "id": .text(file.pack),
      "version": file.version.map { .number($0) }, "bases": file.bases.isEmpty ? nil : .texts(file.bases),
      "size": file.size.map { .number($0) }, "manifest": file.release.map { .number($0) }, "counts": Self.json(observation.counts[number]),
    ]
  }

  private static func json(_ counts: Observation.Counts) -> JSON {
    [
      "requests": .number(counts.requests), "whole": .number(counts.whole), "parts": .number(counts.parts),
      "unchanged": .number(counts.unchanged), "failed": .number(counts.failed), "aborted": .number(counts.aborted),
      "bytes": .number(counts.bytes), "wholeCompleted": .number(counts.wholeCompleted), "begunInParts": .number(counts.begun),
      "completedInParts": .number(counts.joined), "deltaDevices": .number(counts.devices), "fallbacks": .number(counts.fallbacks),
    ]
  }
}
