/// The install budget of a release for people: each number with the parts that add up to it, and what to do with it in the App Store.
package struct BudgetReport: Sendable {
  /// The largest number of on-demand packs that are named with their sizes.
  private static let mostNamed = 64

  /// One of the four numbers.
  package struct Section: Sendable {
    /// The name of the number.
    package let title: String
    /// Its key in the Info.plist.
    package let key: String
    /// Its parts in bytes. They add up to ``total``.
    package let rows: [(name: String, bytes: UInt64)]
    /// The number in bytes.
    package let total: UInt64
  }

  /// The numbers of the platforms that have the same packs.
  package struct Part: Sendable {
    /// The platforms, in the order of their names in packer.yml's documentation. All, if the packs are the same everywhere.
    package let platforms: [DeviceProfile.Platform]
    /// The four numbers: downloads before sizes on the device, and in each the essential packs before the others.
    package let sections: [Section]
    /// The four numbers for the Info.plist.
    let install: InstallBudget
    /// The most bytes on the device.
    let peak: StorePeak

    /// - Parameter packs: the packs that the budget was computed from.
    package init(platforms: [DeviceProfile.Platform], packs: [ManifestPack], budget: ReleaseBudget) {
      self.platforms = platforms
      install = budget.install
      peak = budget.peak
      func section(
        _ title: String, _ key: String, _ amount: ReleaseBudget.Amount, _ delivery: DeliveryClass, reserved: String?,
        _ size: ((download: UInt64, onDevice: UInt64)) -> UInt64
      ) -> Section {
        var rows = packs.compactMap { pack in pack.counted(as: delivery).map { (name: pack.id, bytes: size($0)) } }
        if let reserved, amount.reserved > 0 { rows.append((reserved, amount.reserved)) }
        rows.append(("headroom", amount.headroom))
        return Section(title: title, key: key, rows: rows, total: amount.total)
      }
      sections = [
        section(
          "essential download", "BAEssentialDownloadAllowance", budget.essentialDownload, .essential, reserved: "manifest, reserved",
          \.download
        ),
        section(
          "other download", "BADownloadAllowance", budget.download, .prefetch, reserved: "essential pack, second try", \.download),
        section(
          "essential on the device", "BAEssentialMaxInstallSize", budget.essentialInstalled, .essential, reserved: nil, \.onDevice),
        section("other on the device", "BAMaxInstallSize", budget.installed, .prefetch, reserved: nil, \.onDevice),
      ]
    }

    /// The platforms for a heading.
    var name: String { platforms.map(\.rawValue).joined(separator: ", ") }
  }

  /// The numbers of the manifest: the largest of all platforms.
  let budget: ReleaseBudget
  /// The numbers of each group of platforms. One element if the packs are the same on all platforms.
  package let parts: [Part]
  /// All packs of the release.
  let packs: [ManifestPack]
  let manifestVersion: UInt64
  /// The size of the manifest's document in bytes.
  let manifestSize: UInt64
  let manifestCeiling: UInt64
  let hosting: PackerConfiguration.Hosting

  private var onDemand: [ManifestPack] { packs.filter { $0.delivery == .onDemand } }

  // MARK: Advice for the App Store

  /// Advice for the people who release the app, as paragraphs.
  package var paragraphs: [(title: String, text: String)] {
    let essential = budget.essentialInstalled.total
    let other = budget.installed.total
    var paragraphs: [(title: String, text: String)] = []
    if hosting == .apple {
      paragraphs.append(
        (
          "App Store",
          "Apple hosts these packs and counts them itself, so none of these numbers goes into the Info.plist. They show what players download and store."
        ))
    } else {
      paragraphs.append(
        (
          "App Store",
          """
          The product page adds \(ByteCount(essential)) (BAEssentialMaxInstallSize) and \(ByteCount(other)) (BAMaxInstallSize) to the size of the app. \
          The progress shown during installation starts from \(ByteCount(budget.essentialDownload.total)) (BAEssentialDownloadAllowance).
          """
        ))
    }
    var sizes = "\(ByteCount(budget.download.packs)) after the installation"
    if onDemand.count > Self.mostNamed {
      sizes += ", and on demand \(onDemand.count) packs, together \(ByteCount(budget.onDemandDownload))"
    } else if !onDemand.isEmpty {
      sizes += ", and on demand " + onDemand.map { "\($0.id) \(ByteCount($0.size))" }.joined(separator: ", ")
    }
    paragraphs.append(
      (
        "App Review 4.2.3",
        """
        The app must contain enough to work when it is first opened. If it needs to download more, it must show the size and ask first: \(sizes).
        """
      ))
    paragraphs.append(
      (
        "Export compliance",
        """
        The app decrypts with AES-256-GCM and checks signatures with Ed25519, using the system's CryptoKit or a library that it links. App Store Connect asks whether \
        the app, its libraries included, uses encryption that is not exempt (ITSAppUsesNonExemptEncryption). The client library of packer only decrypts. \
        You must decide on the answer; packer does not give one.
        """
      ))
    return paragraphs
  }

  /// The largest space that the packs take on the device, as a sentence.
  package var peak: String {
    let peak = budget.peak
    return """
      at most \(ByteCount(peak.total)) (\(peak.total) bytes) on the device, while all packs are updated at once: \
      \(ByteCount(peak.kept)) for the \(StorePolicy().keepVersions) earlier versions of each pack that the store keeps, taken to be as large as these; \
      \(ByteCount(peak.arriving)) for the new versions and the files that wait; \(ByteCount(peak.records)) for the store's records. \
      Not counted: a version still on trial when the next release is installed, and packs that releases no longer have, until the app removes them
      """
  }

  private var manifestLine: String {
    "manifest \(manifestVersion): \(manifestSize) of the \(manifestCeiling) bytes reserved for it"
  }

  // MARK: Forms

  /// The report for a terminal.
  package var text: [UInt8] {
    var lines = ["Install budget in bytes", ""]
    let sections = parts.flatMap(\.sections)
    let width = sections.flatMap(\.rows).map(\.name.count).max() ?? 0
    let digits = sections.map { Table.grouped($0.total).count }.max() ?? 0
    for part in parts {
      if parts.count > 1 { lines += ["For \(part.name), at most \(ByteCount(part.peak.total)) while all packs are updated:", ""] }
      for section in part.sections {
        lines.append("\(section.title) (\(section.key))")
        for row in section.rows { lines.append("  \(Table.left(row.name, width))  \(Table.right(Table.grouped(row.bytes), digits))") }
        lines.append("  " + String(repeating: "-", count: width + 2 + digits))
        lines.append("  \(Table.left("total", width))  \(Table.right(Table.grouped(section.total), digits))  \(ByteCount(section.total))")
        lines.append("")
      }
    }
    if !onDemand.isEmpty {
      lines.append("on demand, not in the budget: download, on the device")
      let rows = onDemand.map { [$0.id, Table.grouped($0.size), Table.grouped($0.sizeOnDevice)] }
      lines += Table.columns(rows, numbers: [1, 2])
      lines.append("")
    }
    lines.append(manifestLine)
    lines.append(peak)
    for paragraph in paragraphs { lines += ["", "\(paragraph.title): \(paragraph.text)"] }
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }

  /// The report for a pull request.
  package var markdown: [UInt8] {
    var lines = ["# Install budget", "", "| Key | Packs | Reserved | Headroom | Total | |", "|---|--:|--:|--:|--:|--:|"]
    let amounts = [budget.essentialDownload, budget.download, budget.essentialInstalled, budget.installed]
    for (section, amount) in zip(parts.first?.sections ?? [], amounts) {
      let numbers = [amount.packs, amount.reserved, amount.headroom, amount.total].map { Table.grouped($0) }.joined(separator: " | ")
      lines.append("| \(section.title), `\(section.key)` | \(numbers) | \(ByteCount(amount.total)) |")
    }
    if parts.count > 1 {
      lines += ["", "| Platforms | \(budget.install.named.map { "`\($0.key)`" }.joined(separator: " | ")) |", "|---|--:|--:|--:|--:|"]
      for part in parts {
        lines.append("| \(part.name) | \(part.install.named.map { Table.grouped($0.bytes) }.joined(separator: " | ")) |")
      }
      lines += ["", "The first table has the largest number of all platforms."]
    }
    lines += ["", "| Pack | Version | Delivery | Download | On the device |", "|---|--:|---|--:|--:|"]
    for pack in packs {
      lines.append(
        "| \(pack.id) | \(pack.version) | \(pack.delivery.rawValue), \(pack.install.rawValue) | \(Table.grouped(pack.size)) | \(Table.grouped(pack.sizeOnDevice)) |"
      )
    }
    lines += ["", "All numbers are in bytes. Reserved: the manifest's ceiling, and room to download the largest essential pack again."]
    if !onDemand.isEmpty { lines += ["", "On-demand packs are not in the budget."] }
    lines += ["", "- \(manifestLine)", "- \(peak)"]
    for paragraph in paragraphs { lines += ["", "**\(paragraph.title).** \(paragraph.text)"] }
    return Array((lines.joined(separator: "\n") + "\n").utf8)
  }

  /// The report for programs. All numbers are bytes.
  package var json: [UInt8] {
    func record(_ amount: ReleaseBudget.Amount) -> JSON {
      .sorted([
        "headroom": .number(amount.headroom), "packs": .number(amount.packs), "reserved": .number(amount.reserved),
        "total": .number(amount.total),
      ])
    }
    let packs = packs.map { pack -> JSON in
      [
        "id": .text(pack.id), "delivery": .text(pack.delivery.rawValue), "download": .number(pack.size),
        "install": .text(pack.install.rawValue), "installed": .number(pack.sizeOnDevice), "version": .number(pack.version),
      ]
    }
    let platforms = parts.flatMap { part in part.platforms.map { JSON.Member(key: $0.rawValue, value: part.install.record) } }
    return JSON.sorted([
      "budget": budget.install.record,
      "manifest": .sorted([
        "ceiling": .number(manifestCeiling), "size": .number(manifestSize), "version": .number(manifestVersion),
      ]),
      "onDemand": .sorted([
        "download": .number(budget.onDemandDownload), "installed": .number(budget.onDemandInstalled),
      ]),
      "packs": .list(packs),
      "parts": .sorted([
        "BADownloadAllowance": record(budget.download), "BAEssentialDownloadAllowance": record(budget.essentialDownload),
        "BAEssentialMaxInstallSize": record(budget.essentialInstalled), "BAMaxInstallSize": record(budget.installed),
      ]),
      "platforms": parts.count == 1 ? nil : .object(platforms),
      "peakDisk": .number(budget.peakDisk),
      "peakDiskParts": .sorted([
        "arriving": .number(budget.peak.arriving), "kept": .number(budget.peak.kept), "records": .number(budget.peak.records),
      ]),
    ]).document
  }
}
