import PackBuild
import PackManifest
import PackProject

/// PK3007.
enum ReleasedBudgetCheck: ReleaseCheck {
  static let rule = ReleaseRule(
    "PK3007", "the release would not fit an app version already released", .error, .released, needs: [.manifest, .lock],
    what: """
      The packs fit both allowances of every app version in packer.lock.json that is not retired. Allowances are part of the shipped app, but \
      every version reads the newest manifest.
      """,
    onPhone: """
      New installs of that version fail: 203 for an essential pack or the manifest, 112 for other packs. Existing installs are not affected, \
      so the team does not notice.
      """,
    remedy: "Make packs onDemand or smaller until they fit, or run 'packer release retire VERSION' if it can no longer be installed.")

  static func run(_ release: ReleaseContext) -> [ReleaseFinding] {
    findings(release, of: Self.self) { BudgetKey.isAllowance($0) }
  }

  /// Returns a finding for each size of a released app that the release does not fit, of the keys that `isChecked` returns true for.
  static func findings(
    _ release: ReleaseContext, of check: any ReleaseCheck.Type, isChecked: (_ key: String) -> Bool
  ) -> [ReleaseFinding] {
    release.apps.flatMap { app in
      let demand = release.demand(for: app.device)
      return (app.budget?.named ?? []).compactMap { key, limit -> ReleaseFinding? in
        guard isChecked(key), let needed = demand.named.first(where: { $0.key == key })?.bytes,
          !ReleaseDemand.fits(needed, in: limit, key)
        else { return nil }
        return ReleaseFinding(
          check.rule, "app \(app.title): \(BudgetComparison.sentence(key, limit, needed))",
          app: app.version, file: release.lockPath, actual: needed, limit: limit, phone: phone(key),
          hint: "\(advice(release, key))packer release retire \(ShellWord.quoted(app.version))")
      }
    }
  }

  private static func phone(_ key: String) -> BackgroundAssetsError? {
    switch key {
    case BudgetKey.download: .exceedsAllowance
    case BudgetKey.essentialDownload: .outOfAllowance
    default: nil
    }
  }

  /// Returns the advice to change the delivery of one pack: the largest pack that is new or changed since the last release, or else the largest
  /// counted pack.
  private static func advice(_ release: ReleaseContext, _ key: String) -> String {
    let delivery: DeliveryClass = key == BudgetKey.download || key == BudgetKey.installed ? .prefetch : .essential
    let counted = release.entries.filter { $0.delivery == delivery }
    let released = Set(release.lock?.released?.packs.map(\.sha256) ?? [])
    let changed = counted.filter { !released.contains($0.sha256) }
    guard let largest = (changed.isEmpty ? counted : changed).max(by: { $0.size < $1.size }) else { return "" }
    return "set 'delivery: \(delivery == .essential ? "prefetch" : "onDemand")' for '\(largest.id)' (\(SizeText.short(largest.size))), or: "
  }
}
