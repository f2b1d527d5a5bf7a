/// Rules about sizes and their limits in the Info.plist, the manifest and packer.yml.
enum BudgetRules {
  static let all: [ReleaseRule] = [
    essentialAllowance, downloadAllowance, essentialInstallLimit, installLimit, manifestCeiling, retryRoom, manifestBudget,
    overstatedBudget, wrongUnit, swappedSizes, countedTwice, teamBudget, teamTotals, largeEssential, allEssential,
  ]

  static let essentialAllowance = ReleaseRule(
    "PK3001", "the essential download does not fit its allowance", phone: .outOfAllowance
  ) { (listing: Listing, plist: PlistSighting) -> [Finding] in
    excess(over: BudgetKey.essentialDownload, listing, plist)
  }

  static let downloadAllowance = ReleaseRule(
    "PK3002", "the other downloads do not fit their allowance", phone: .exceedsAllowance
  ) { (listing: Listing, plist: PlistSighting) -> [Finding] in
    excess(over: BudgetKey.download, listing, plist)
  }

  static let essentialInstallLimit = ReleaseRule(
    "PK3003", "essential packs take more space on the device than the Info.plist says"
  ) { (listing: Listing, plist: PlistSighting) -> [Finding] in
    excess(over: BudgetKey.essentialInstalled, listing, plist)
  }

  static let installLimit = ReleaseRule(
    "PK3004", "prefetch packs take more space on the device than the Info.plist says"
  ) { (listing: Listing, plist: PlistSighting) -> [Finding] in
    excess(over: BudgetKey.installed, listing, plist)
  }

  static let manifestCeiling = ReleaseRule(
    "PK3005", "the manifest is larger than the space reserved for it", phone: .outOfAllowance
  ) { (listing: Listing, configuration: PackerConfiguration) -> Finding? in
    let (size, ceiling) = (listing.size, listing.ceiling(configuration))
    guard size > ceiling / 5 * 4 else { return nil }
    let sizes = SizeText.pair(size, ceiling)
    return Finding(
      "\(listing.path) is \(sizes.0), \(size > ceiling ? "more than" : "near") the \(sizes.1) reserved for it",
      level: size > ceiling ? .error : .warning, file: listing.path, actual: size, limit: ceiling,
      hint: "raise manifestCeiling in \(configuration.path), then: packer build")
  }

  static let retryRoom = ReleaseRule(
    "PK3006", "no room to retry a failed essential pack", .warning, phone: .exceedsAllowance
  ) { (listing: Listing, plist: PlistSighting) -> Finding? in
    let demand = listing.demand(for: plist)
    guard let limit = plist.number(BudgetKey.download), demand.hasEssential else { return nil }
    let needed = demand.largestRetry
    guard ReleaseDemand.fits(demand.otherDownload, in: limit, BudgetKey.download), needed >= limit else { return nil }
    return Finding(
      sentence(BudgetKey.download, limit, needed, by: "a retry of the largest essential pack"),
      file: plist.path, actual: needed, limit: limit, hint: plist.mergeHint)
  }

  static let manifestBudget = ReleaseRule(
    "PK3013", "the budget in the manifest is smaller than its packs need"
  ) { (listing: Listing, configuration: PackerConfiguration?) -> [Finding] in
    guard let budget = listing.content.budget else { return [] }
    return listing.demand.named.compactMap { key, needed in
      guard let limit = budget.named.first(where: { $0.key == key })?.bytes, !ReleaseDemand.fits(needed, in: limit, key) else { return nil }
      // If only the bytes of the manifest above its ceiling are missing, that is PK3005.
      if key == BudgetKey.essentialDownload, let ceiling = configuration.map(listing.ceiling), listing.size > ceiling,
        ReleaseDemand.fits(needed - (listing.size - ceiling), in: limit, key)
      {
        return nil
      }
      return Finding(
        "the manifest's own budget: \(sentence(key, limit, needed))", file: listing.path, actual: needed, limit: limit,
        hint: "packer build")
    }
  }

  static let overstatedBudget = ReleaseRule(
    "PK3014", "the Info.plist reserves far more than the packs need", .note
  ) { (listing: Listing, plist: PlistSighting) -> [Finding] in
    let wanted = wanted(listing, plist)
    return plist.numbers.compactMap { key, value in
      guard let needed = wanted.first(where: { $0.key == key })?.bytes else { return nil }
      let bound = needed.adding(needed / 4).adding(1 << 20)
      guard value > bound else { return nil }
      let sizes = SizeText.pair(value, needed)
      return Finding(
        "\(key) allows \(sizes.0); this release needs only \(sizes.1)", file: plist.path, actual: value, limit: needed,
        hint: plist.mergeHint)
    }
  }

  static let wrongUnit = ReleaseRule(
    "PK3015", "a number of the Info.plist is not in bytes", phone: .exceedsAllowance
  ) { (listing: Listing, plist: PlistSighting) -> [Finding] in
    return plist.numbers.compactMap { key, value in
      guard let needed = listing.demand(for: plist).named.first(where: { $0.key == key })?.bytes, let unit = unit(of: value, needed: needed)
      else {
        return nil
      }
      return Finding(
        "\(key) is \(value), which looks like \(unit) but counts bytes; this release needs \(SizeText.short(needed))", file: plist.path,
        actual: needed, limit: value, hint: plist.mergeHint)
    }
  }

  static let swappedSizes = ReleaseRule(
    "PK3016", "download and install sizes are swapped in the Info.plist"
  ) { (listing: Listing, plist: PlistSighting) -> [Finding] in
    pairs.compactMap { download, installed in
      guard isSwapped(download, listing, plist), let first = plist.number(download),
        let second = plist.number(installed)
      else { return nil }
      let sizes = SizeText.pair(first, second)
      return Finding(
        "\(download) is \(sizes.0) and \(installed) is \(sizes.1): they are swapped", file: plist.path,
        actual: first, limit: second, hint: plist.mergeHint)
    }
  }

  static let countedTwice = ReleaseRule(
    "PK3017", "essential packs are counted in the non-essential numbers", .warning
  ) { (listing: Listing, plist: PlistSighting) -> [Finding] in
    return [BudgetKey.download, BudgetKey.installed].compactMap { key in
      guard isCountedTwice(key, listing, plist), let value = plist.number(key),
        let needed = listing.demand(for: plist).named.first(where: { $0.key == key })?.bytes
      else { return nil }
      let sizes = SizeText.pair(value, needed)
      return Finding(
        "\(key) is \(sizes.0), about the sum of all packs; the prefetch packs need only \(sizes.1)", file: plist.path, actual: value,
        limit: needed, hint: plist.mergeHint)
    }
  }

  static let teamBudget = ReleaseRule(
    "PK3018", "a pack is larger than its budget in packer.yml", .error, .budget
  ) { (listing: Listing, configuration: PackerConfiguration) -> [Finding] in
    let packs = configuration.packsByID
    return listing.entries.flatMap { entry -> [Finding] in
      guard let budget = packs[entry.id]?.budget else { return [] }
      // Without a lead, it is played when it is here as a whole.
      let launch = entry.stream == nil ? entry.size : entry.leadSize
      let sizes = [
        ("download", entry.size, budget.download), ("installed", entry.sizeOnDevice, budget.installed), ("launch", launch, budget.launch),
      ]
      return sizes.compactMap { what, actual, limit in
        guard let limit, actual > limit else { return nil }
        let sizes = SizeText.pair(limit, actual)
        return Finding(
          "budget.\(what) allows \(sizes.0); the pack needs \(sizes.1) (\(SizeText.short(actual - limit)) too much)", pack: entry.id,
          file: configuration.path, line: budget.position.line, actual: actual, limit: limit,
          hint: budget.message ?? "make it smaller, or raise budget.\(what) in \(configuration.path)")
      }
    }
  }

  static let teamTotals = ReleaseRule(
    "PK3019", "all packs together are larger than the totals in packer.yml", .error, .budget
  ) { (listing: Listing, configuration: PackerConfiguration) -> [Finding] in
    let (demand, totals) = (ReleaseDemand(listing.entries, manifestSize: 0), configuration.totals)
    let rows = [
      ("essential.download", demand.essentialDownload, totals.essentialDownload),
      ("essential.installed", demand.essentialInstalled, totals.essentialInstalled),
      ("other.download", demand.otherDownload, totals.otherDownload),
      ("other.installed", demand.otherInstalled, totals.otherInstalled),
    ]
    return rows.compactMap { name, actual, limit in
      guard let limit, actual > limit else { return nil }
      let sizes = SizeText.pair(limit, actual)
      return Finding(
        "totals.\(name) allows \(sizes.0); the packs need \(sizes.1) (\(SizeText.short(actual - limit)) too much)",
        file: configuration.path, actual: actual, limit: limit,
        hint: totals.message ?? "make packs smaller or onDemand, or raise totals.\(name) in \(configuration.path)")
    }
  }

  static let largeEssential = ReleaseRule("PK3020", "the essential download takes long", .warning) { (listing: Listing) -> Finding? in
    let size = listing.demand.essentialDownload
    guard size > mostAdvised else { return nil }
    let sizes = SizeText.pair(size, mostAdvised)
    return Finding(
      "the essential download is \(sizes.0), more than the \(sizes.1) that 30 minutes at 5 Mbit/s allow", file: listing.path,
      actual: size, limit: mostAdvised, hint: "set 'delivery: prefetch' for packs that the first minutes do not need")
  }

  static let allEssential = ReleaseRule("PK3021", "every pack is essential", .note, .other) { (listing: Listing) -> Finding? in
    guard listing.entries.count > 1, listing.entries.allSatisfy({ $0.delivery == .essential }) else { return nil }
    return Finding(
      "all \(listing.entries.count) packs are essential: if in-app content is switched off or downloads fail, the app starts without packs",
      file: listing.path, hint: "set 'delivery: prefetch' for packs that the first minutes do not need")
  }

  /// Returns the numbers that a merge would write: those of the manifest, less what the platform of the plist does not have.
  private static func wanted(_ listing: Listing, _ plist: PlistSighting) -> [(key: String, bytes: UInt64)] {
    let (all, own) = (listing.demand, listing.demand(for: plist))
    guard let budget = listing.content.budget else { return own.named }
    return budget.named.map { key, bytes in
      // This number includes room for the largest essential pack.
      if key == BudgetKey.download { return (key, bytes.less(all.largestRetry.less(own.largestRetry))) }
      let others = zip(all.named, own.named).first { $0.0.key == key }.map { $0.bytes.less($1.bytes) } ?? 0
      return (key, bytes.less(others))
    }
  }

  /// Returns the unit in which a number seems to be written; nil if that is bytes.
  private static func unit(of value: UInt64, needed: UInt64) -> String? {
    guard value > 0, value < 1 << 20, needed >= 1 << 20 else { return nil }
    let units: [(name: String, factor: UInt64)] = [("megabytes", 1_000_000), ("MiB", 1 << 20), ("kilobytes", 1000), ("KiB", 1 << 10)]
    return units.first { unit in
      let bytes = value.times(unit.factor)
      return bytes >= needed / 2 && bytes / 3 <= needed
    }?.name
  }

  private static let pairs = [
    (BudgetKey.essentialDownload, BudgetKey.essentialInstalled), (BudgetKey.download, BudgetKey.installed),
  ]

  /// Returns whether a number belongs to a pair that is wrong, but would be right if the two numbers were swapped, and both are nearer to that. The rules
  /// for each number find it, too: this one only explains.
  private static func isSwapped(_ key: String, _ listing: Listing, _ plist: PlistSighting) -> Bool {
    guard let (download, installed) = pairs.first(where: { $0 == key || $1 == key }),
      let allowance = plist.number(download), let size = plist.number(installed),
      let neededDownload = listing.demand(for: plist).named.first(where: { $0.key == download })?.bytes,
      let neededSize = listing.demand(for: plist).named.first(where: { $0.key == installed })?.bytes
    else { return false }
    func distance(_ left: UInt64, _ right: UInt64) -> UInt64 { max(left, right) - min(left, right) }
    let isNearer =
      distance(size, neededDownload) < distance(size, neededSize)
      && distance(allowance, neededSize) < distance(allowance, neededDownload)
    return size < neededSize && isNearer && ReleaseDemand.fits(neededDownload, in: size, download) && allowance >= neededSize
  }

  /// Returns whether a non-essential number is far above the needed one, and within 5 % of the sum of both classes.
  private static func isCountedTwice(_ key: String, _ listing: Listing, _ plist: PlistSighting) -> Bool {
    let demand = listing.demand(for: plist)
    let (other, essential): (UInt64, UInt64)
    switch key {
    case BudgetKey.download: (other, essential) = (demand.otherDownload, demand.essentialDownload)
    case BudgetKey.installed: (other, essential) = (demand.otherInstalled, demand.essentialInstalled)
    default: return false
    }
    // The wanted allowance includes the largest essential pack. If there is only one essential pack, that is the sum of all packs.
    let retry = key == BudgetKey.download ? demand.largestEssential : 0
    let wanted = max(other.adding(retry), listing.content.budget?.named.first { $0.key == key }?.bytes ?? 0)
    let sum = other.adding(essential)
    guard essential >= 1 << 20, sum > wanted.adding(wanted / 5), let value = plist.number(key) else { return false }
    return value >= sum - sum / 20 && value <= sum.adding(sum / 20)
  }

  /// 30 minutes at 5 Mbit/s, in bytes.
  private static let mostAdvised: UInt64 = 30 * 60 * 5_000_000 / 8

  /// Returns the finding if the release does not fit a number of the Info.plist.
  private static func excess(over key: String, _ listing: Listing, _ plist: PlistSighting) -> [Finding] {
    guard let limit = plist.number(key), let needed = listing.demand(for: plist).named.first(where: { $0.key == key })?.bytes,
      !ReleaseDemand.fits(needed, in: limit, key)
    else { return [] }
    return [Finding(sentence(key, limit, needed), file: plist.path, actual: needed, limit: limit, hint: plist.mergeHint)]
  }

  static func sentence(_ key: String, _ limit: UInt64, _ needed: UInt64, by subject: String = "this release") -> String {
    let required = BudgetKey.isAllowance(key) ? needed.adding(1) : needed
    let sizes = SizeText.pair(limit, required)
    let excess = SizeText.short(required - min(required, limit))
    return "\(key) allows \(sizes.0); \(subject) needs \(sizes.1) (\(excess) too much)"
  }
}
