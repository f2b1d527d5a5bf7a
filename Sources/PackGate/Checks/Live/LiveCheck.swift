/// A check of the published release for one rule, by what ``LiveInspection`` found.
protocol LiveCheck: ReleaseCheck {
  /// The faults that break the rule.
  static var fault: LiveFault.Kind { get }
}

extension LiveCheck {
  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    (release.live?.faults ?? []).filter { $0.kind == fault }.map { found in
      finding(
        found.message, level: found.isLesser ? rule.level == .error ? .warning : .note : nil, pack: found.pack, actual: found.actual,
        limit: found.limit)
    }
  }
}
