/// What a release leaves of the install budget of an app version that players use.
package struct AppRoom: Hashable, Sendable {
  /// One of the four numbers in its Info.plist. Sizes are in bytes.
  package struct Amount: Hashable, Sendable {
    /// Apple's key, such as `BAMaxInstallSize`.
    package let key: String
    /// The number in the Info.plist.
    package let limit: UInt64
    /// What the release needs.
    package let needed: UInt64

    /// Whether the system refuses downloads that exceed the number. Otherwise it is only shown to players.
    package var isAllowance: Bool { BudgetKey.isAllowance(key) }
    /// Whether the release fits.
    package var fits: Bool { ReleaseDemand.fits(needed, in: limit, key) }
    /// The most that the release may need: an allowance must not be used up.
    private var most: UInt64 { isAllowance ? limit - min(limit, 1) : limit }
    /// What is left, or if the release does not fit, what it needs too much.
    package var difference: UInt64 { fits ? most - needed : needed - most }

    /// Whether less is left than of another number, or more is missing.
    package func isTighter(than other: Amount) -> Bool {
      guard fits == other.fits else { return !fits }
      return fits ? difference < other.difference : difference > other.difference
    }
  }

  /// The version, as the team writes it.
  package let version: String
  /// The platform of this build of the version. Nil if it has one build.
  package let platform: String?
  /// The version for messages, with its platform if it has one.
  package let title: String
  /// The numbers, in ascending order of their keys.
  package let amounts: [Amount]

  /// Returns what a release leaves in each app version that is not retired and has a budget.
  ///
  /// - Parameters:
  ///   - packs: All packs of the release.
  ///   - manifestSize: The size of its manifest in bytes.
  package static func all(_ apps: [ReleaseLock.App], packs: [ManifestPack], manifestSize: UInt64) -> [AppRoom] {
    apps.filter { !$0.isRetired }.compactMap { app in
      guard let budget = app.budget else { return nil }
      let amounts = amounts(of: budget, packs, for: app.device, manifestSize: manifestSize)
      return AppRoom(version: app.version, platform: app.platform, title: app.title, amounts: amounts)
    }
  }

  /// Returns what a release leaves of a budget, in ascending order of the keys.
  package static func amounts(
    of budget: InstallBudget, _ packs: [ManifestPack], for platform: DeviceProfile.Platform?, manifestSize: UInt64
  ) -> [Amount] {
    let demand = ReleaseDemand(packs, for: platform, manifestSize: manifestSize).named
    return budget.named.compactMap { key, limit in
      demand.first { $0.key == key }.map { Amount(key: key, limit: limit, needed: $0.bytes) }
    }
  }

  /// The number of which least is left, or most is missing. Allowances come first, because no download waits for the others; one that the release does
  /// not need does not count.
  package var tightest: Amount? {
    let needed = amounts.filter { $0.needed > 0 || !$0.fits }
    let allowances = needed.filter(\.isAllowance)
    return (allowances.isEmpty ? needed : allowances).min { $0.isTighter(than: $1) }
  }
}

extension AppRoom {
  /// What a release leaves of the budget of an app version. Sizes are in bytes.
  package var json: JSON {
    let amounts = amounts.map { amount -> JSON in
      // The difference is what is left, or if it does not fit, what is missing.
      [
        "key": .text(amount.key), "limit": .number(amount.limit), "needed": .number(amount.needed), "fits": .flag(amount.fits),
        "difference": .number(amount.difference),
      ]
    }
    return ["type": "room", "appVersion": .text(version), "platform": .text(platform), "amounts": .list(amounts)]
  }
}
