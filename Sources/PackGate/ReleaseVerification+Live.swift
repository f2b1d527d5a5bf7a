extension ReleaseVerification {
  /// Asks the server for the release.
  func look(at place: LiveAddress?, _ facts: inout Facts, progress: ProgressHandler?) async throws(PackError) {
    var plan: LivePlan
    do throws(PackError) {
      plan = try facts.livePlan(at: place, files: files)
    } catch {
      // What prevents it is a finding of its own, if these are asked for.
      guard only.isEmpty, error.code != .malformedURL, error.code != .usage else { throw error }
      return
    }
    (plan.isQuick, plan.seed, plan.statePath, plan.patience) = (isQuick, liveSeed, liveState, livePatience)
    plan.isForBrowsers = facts.configuration?.isForBrowsers == true
    let fetcher = try CurlFetcher(files: files)
    facts.live = try await LiveInspection(plan: plan, fetcher: fetcher, files: files).run(progress: progress)
  }

  /// Whether only rules about the published release are checked, which need no key and no packs.
  package var isOnlyLive: Bool {
    isLive && !only.isEmpty && ReleaseRule.all.allSatisfy { $0.needs.contains(.live) || !only.contains(where: $0.id.hasPrefix) }
  }
}
