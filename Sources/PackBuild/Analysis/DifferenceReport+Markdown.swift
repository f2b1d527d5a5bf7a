extension DifferenceReport {
  /// The report for a pull request: packs, the most expensive files of each, downloads and budgets.
  ///
  /// - Parameters:
  ///   - mostFiles: the largest number of files that are listed for each pack.
  ///   - limit: the largest size in bytes, but for the tables of downloads and budgets. What is left out is counted.
  package func markdown(mostFiles: Int, limit: Int) -> [UInt8] {
    var lines = ["### \(MarkdownText.cell(before)) → \(MarkdownText.cell(after))", "", summary, ""]
    let shown = packs.filter(\.isChanged)
    // Half of the room is for the packs, and the end is always there.
    let end = end
    var left = limit - end.reduce(0) { $0 + $1.utf8.count + 1 }
    if isAboutReleases, !shown.isEmpty {
      lines += ["| Pack | | Version | Size | Update |", "|---|---|---|--:|--:|"]
      var listed = 0
      for pack in shown {
        let row = Self.row(pack)
        guard row.utf8.count + 1 <= left - limit / 2 else { break }
        left -= row.utf8.count + 1
        lines.append(row)
        listed += 1
      }
      if listed < shown.count { lines.append("| and \(shown.count - listed) more | | | | |") }
      lines.append("")
    }
    var unlisted = 0
    for pack in shown {
      let files = Self.files(of: pack, most: mostFiles)
      let size = files.reduce(0) { $0 + $1.utf8.count + 1 }
      guard size <= left else {
        unlisted += 1
        continue
      }
      left -= size
      lines += files
    }
    if unlisted > 0 { lines += ["The files of \(unlisted) \(unlisted == 1 ? "pack is" : "packs are") not listed.", ""] }
    return Array((lines + end).joined(separator: "\n").utf8)
  }

  private static func row(_ pack: PackDifference) -> String {
    let versions = change(pack.before?.version.map { "\($0)" }, pack.after?.version.map { "\($0)" })
    let sizes = change(pack.before?.packSize.map(size), pack.after?.packSize.map(size))
    let update = pack.update.map { size($0.size) + ($0.isDelta ? " (delta)" : "") } ?? ""
    let delivery = pack.delivery.map { ", \($0.before.rawValue) → \($0.after.rawValue)" } ?? ""
    return "| \(MarkdownText.code(pack.id ?? "")) | \(pack.kind.rawValue)\(delivery) | \(versions) | \(sizes) | \(update) |"
  }

  /// The tables of downloads and budgets.
  private var end: [String] {
    var lines: [String] = []
    if !downloads.isEmpty {
      lines += ["| Players with all packs of | download | without deltas | with a new app |", "|---|--:|--:|--:|"]
      for update in downloads {
        let sizes = [update.size, update.packSize, update.sizeWithApp].map(Self.size)
        lines.append("| manifest \(update.manifest) | \(sizes.joined(separator: " | ")) |")
      }
      lines.append("")
    }
    if let first = room.first {
      lines += ["| Left in app | \(first.amounts.map { "`\($0.key)`" }.joined(separator: " | ")) |"]
      lines += ["|---|\(String(repeating: "--:|", count: first.amounts.count))"]
      for app in room {
        let cells = app.amounts.map { $0.fits ? Self.size($0.difference) : "**\(Self.size($0.difference)) too much**" }
        lines.append("| \(MarkdownText.cell(app.title)) | \(cells.joined(separator: " | ")) |")
      }
      lines.append("")
    }
    return lines
  }

  private static func files(of pack: PackDifference, most: Int) -> [String] {
    if let obstacle = pack.obstacle { return ["\(MarkdownText.code(pack.id ?? "")): \(MarkdownText.cell(obstacle))", ""] }
    guard let changes = pack.files?.changes, !changes.isEmpty else { return [] }
    let counts = "\(changes.count) \(changes.count == 1 ? "path" : "paths")"
    var lines = [
      "<details><summary>\(pack.id.map { "\($0): " } ?? "")\(counts)</summary>", "",
      "| | File | Size | In the pack | Update |", "|---|---|--:|--:|--:|",
    ]
    for change in changes.prefix(most) {
      let moved = change.kind == .renamed ? change.before.map { "\(MarkdownText.code($0.path)) → " } ?? "" : ""
      let size = change.after?.size == change.before?.size ? nil : change.before.map { Self.size($0.size) }
      let cells = [
        change.kind.rawValue, moved + MarkdownText.code(change.path) + (change.note.map { " (\($0))" } ?? ""),
        Self.change(size, change.after.map { Self.size($0.size) }),
        change.after?.packedSize.map(Self.size) ?? "", change.updateSize.map(Self.size) ?? "",
      ]
      lines.append("| \(cells.joined(separator: " | ")) |")
    }
    if changes.count > most { lines.append("| | and \(changes.count - most) more | | | |") }
    return lines + ["", "</details>", ""]
  }

  private static func change(_ before: String?, _ after: String?) -> String {
    guard let before, before != after else { return after ?? "" }
    return after.map { "\(before) → \($0)" } ?? before
  }

  private static func size(_ bytes: UInt64) -> String { "\(ByteCount(bytes))" }

  /// The numbers of packs or files that differ, as a sentence without a period.
  package var summary: String {
    guard isAboutReleases else {
      let files = packs.compactMap(\.files)
      let kinds: [(TreeChanges.Change.Kind, String)] = [
        (.added, "added"), (.removed, "removed"), (.renamed, "renamed"), (.changed, "changed"), (.mode, "changed in mode"),
      ]
      let changes = files.flatMap(\.changes)
      let parts = kinds.compactMap { kind, word in
        let count = changes.count { $0.kind == kind }
        return count > 0 ? "\(count) \(word)" : nil
      }
      return (parts + ["\(files.reduce(0) { $0 + $1.unchanged.count }) unchanged"]).joined(separator: ", ")
    }
    let words: [(PackDifference.Kind, String)] = [
      (.changed, "changed"), (.added, "added"), (.removed, "removed"), (.repacked, "packed again without changes"),
      (.unchanged, "unchanged"),
    ]
    let counts = words.filter { count($0.0) > 0 }.map { "\(count($0.0)) \($0.1)" }.joined(separator: ", ")
    guard let sizes = packSizes else { return "\(packs.count == 1 ? "pack" : "packs"): \(counts)" }
    let more = sizes.after > sizes.before
    let difference = more ? sizes.after - sizes.before : sizes.before - sizes.after
    let growth = difference == 0 ? "" : ", \(Self.size(difference)) \(more ? "more" : "less")"
    return "\(packs.count == 1 ? "pack" : "packs"): \(counts); \(Self.size(sizes.after))\(growth)"
  }
}
