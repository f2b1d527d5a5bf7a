/// Formats what became of many devices in the course of a rollout.
struct FleetText {
  /// Lines of text, and the record that says the same.
  struct Part {
    let record: JSON
    let lines: [String]
  }

  private let result: Fleet.Result
  private let plan: RolloutPlan
  private let settings: Fleet.Settings
  private let interval: Int64

  init(_ result: Fleet.Result, _ plan: RolloutPlan, _ settings: Fleet.Settings, interval: Int64) {
    (self.result, self.plan, self.settings, self.interval) = (result, plan, settings, interval)
  }

  /// What is simulated, the picture with the steps in it, and what came of it.
  var parts: [Part] { [heading] + picture + [summary, verdict] }

  private var heading: Part {
    let settings = self.settings
    let others = [
      (settings.crashes, "crashes on"), (settings.testers, "testers are"),
    ].filter { $0.0 > 0 }.map { ", \($0.1) \(Self.percent($0.0))" }.joined()
    return Part(
      record: [
        "type": "simulation", "event": "rollout", "devices": .number(settings.devices), "startsPerDay": .number(settings.startsPerDay),
        "offline": .text(Self.percent(settings.offline)), "wrongClocks": .text(Self.percent(settings.wrongClocks)),
        "crashes": .text(Self.percent(settings.crashes)), "testers": .text(Self.percent(settings.testers)),
        "maxAge": .number(settings.edgeSeconds), "seed": .number(settings.seed),
        "packs": .list(
          plan.candidates.map { ["id": .text($0.id), "version": .number($0.from), "candidate": .number($0.to), "size": .number($0.size)] }),
      ],
      lines: [
        "simulate rollout: \(plan.title)",
        "  \(Table.count(settings.devices, "device", "devices")), \(settings.startsPerDay) starts a day, offline \(Self.percent(settings.offline)), "
          + "wrong clocks \(Self.percent(settings.wrongClocks)), max-age \(settings.edgeSeconds) s\(others), seed \(settings.seed)",
      ]
        + plan.candidates.prefix(Self.mostPacks).map { "  \($0.id): version \($0.from), candidate \($0.to), \(ByteCount($0.size))" }
        + (plan.candidates.count > Self.mostPacks ? ["  and \(plan.candidates.count - Self.mostPacks) more"] : []))
  }

  private static let mostPacks = 5

  // MARK: The picture

  private var picture: [Part] {
    var parts: [Part] = []
    var steps = plan.steps[...]
    for (number, counts) in result.counts.enumerated() {
      let time = Int64(number) * interval
      while let step = steps.first, step.time <= time {
        parts.append(
          Part(
            record: ["type": "step", "seconds": .number(step.time), "what": .text(step.text)],
            lines: ["  \(Self.time(step.time))  \(step.text)"]))
        steps = steps.dropFirst()
      }
      let record: JSON = [
        "type": "count", "seconds": .number(time), "bytes": .number(number > 0 ? result.packBytes[number - 1] : 0),
        "runs": .number(counts[0]),
        "has": .number(counts[1]), "failed": .number(counts[2]), "before": .number(counts[3]),
      ]
      parts.append(Part(record: record, lines: ["  \(Self.time(time))  |\(bar(counts))|  \(share(counts[0]))"]))
    }
    return parts
  }

  private static let width = 50

  /// Returns all devices as characters. Each state that a device is in has one at least.
  private func bar(_ counts: [Int]) -> String {
    var widths = counts.map { $0 == 0 ? 0 : max(1, $0 * Self.width / settings.devices) }
    // What rounding left over or took too much is that of the largest.
    if let largest = widths.indices.max(by: { widths[$0] < widths[$1] }) { widths[largest] += Self.width - widths.reduce(0, +) }
    return zip("#+x.", widths).map { String(repeating: $0, count: $1) }.joined()
  }

  private func share(_ count: Int) -> String {
    PercentText.text(UInt64(count) * Rollout.wholeShare / UInt64(settings.devices))
  }

  // MARK: The end

  private var summary: Part {
    let packs = result.packBytes.reduce(UInt64(0)) { $0.adding($1) }
    let busiest = result.packBytes.max() ?? 0
    var fields = [
      (
        "network",
        "\(ByteCount(packs)) of packs, at most \(ByteCount(busiest)) in \(Self.duration(interval)); \(ByteCount(result.manifestBytes)) of manifests"
      )
    ]
    let isHalted = plan.steps.contains { $0.change == .halt }
    let record: JSON = [
      "type": "summary", "packBytes": .number(packs), "manifestBytes": .number(result.manifestBytes),
      "ranAtHalt": isHalted ? .number(result.ranAtHalt) : nil, "wentBack": isHalted ? .number(result.returns.count) : nil,
      "medianSeconds": result.returns.isEmpty ? nil : .number(quantile(50)), "beganByEdge": isHalted ? .number(result.lateByEdge) : nil,
      "beganOffline": isHalted ? .number(result.lateOffline) : nil, "bytesAfterHalt": isHalted ? .number(result.bytesAfterHalt) : nil,
    ]
    if isHalted {
      fields.append(("at the halt", "\(Table.count(result.ranAtHalt, "device", "devices")) ran a candidate"))
      if !result.returns.isEmpty {
        fields.append(
          ("went back", "half after \(Self.duration(quantile(50))), 99 % after \(Self.duration(quantile(99))), without a byte of a pack"))
      }
      fields.append(("did not yet", "\(result.ranAtHalt - result.returns.count): not started since, or without a network"))
      fields.append(
        ("began later", "\(result.lateByEdge) by a manifest that an edge still had, \(result.lateOffline) without a network"))
      fields.append(("fetched later", "\(ByteCount(result.bytesAfterHalt)) of candidates"))
    }
    return Part(record: record, lines: Table.fields(fields))
  }

  private var verdict: Part {
    let runs = result.counts.last?[Fleet.State.runs.rawValue] ?? 0
    let text =
      "\(share(runs)) run a candidate\(plan.steps.last?.change == .finish ? ", which is for everybody now," : "") after \(Self.duration(Int64(result.counts.count - 1) * interval))"
    return Part(record: ["type": "verdict", "verdict": .text(text)], lines: [text])
  }

  private func quantile(_ percent: Int) -> Int64 { result.returns[min(result.returns.count - 1, result.returns.count * percent / 100)] }

  /// Formats a time after the beginning, as `2d 06:00`.
  private static func time(_ seconds: Int64) -> String {
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(Table.right("\(seconds / 86_400)", 2))d \(two(seconds / 3600 % 24)):\(two(seconds / 60 % 60))"
  }

  /// Formats a length of time with two digits at least, as `90 min` or `26 hours`.
  private static func duration(_ seconds: Int64) -> String {
    switch seconds {
    case ..<120: "\(seconds) s"
    case ..<7200: "\(seconds / 60) min"
    case ..<172_800: Table.count(seconds / 3600, "hour", "hours")
    default: "\(seconds / 86_400) days"
    }
  }

  private static func percent(_ share: Double) -> String { PercentText.text(UInt64(share * Double(Rollout.wholeShare) + 0.5)) }
}
