/// Compares a directory with the index of a pack: paths, kinds, sizes, permissions and contents.
enum TreeComparison {
  static func run(
    _ pack: Pack, _ tree: String, excludes: [String], followsSymlinks: Bool, jobs: Int
  ) async throws(PackError) -> [TreeDifference] {
    let sourceProblems = SourceProblems()
    let settings = PackSettings(reading: excludes, followsSymlinks: followsSymlinks)
    let files = pack.source.files
    let entries = try await DirectoryScan.run(tree, settings, files: files, sourceProblems: sourceProblems, jobs: jobs).entries
    var findings = sourceProblems.takeFindings()
    let offending = Set(findings.map(\.path))

    // Both sides are sorted in ascending order, so one pass pairs them.
    var position = 0
    var sameShape: [(entry: SourceEntry, digest: [UInt8])] = []
    try pack.forEachEntry { (packed) throws(PackError) in
      while position < entries.count, entries[position].path.utf8.lexicographicallyPrecedes(packed.path.utf8) {
        findings.append(Self.extra(entries[position]))
        position += 1
      }
      guard position < entries.count, entries[position].path.utf8.elementsEqual(packed.path.utf8) else {
        if !offending.contains(packed.path) {
          findings.append(
            TreeDifference(kind: .missing, path: packed.path, message: "is in the pack, but not in \(tree)"))
        }
        return
      }
      let entry = entries[position]
      position += 1
      if let message = Self.difference(entry, packed) {
        findings.append(TreeDifference(kind: .differs, path: packed.path, message: message))
      } else if packed.size > 0 {
        sameShape.append((entry, packed.sha256))
      }
    }
    for entry in entries[position...] { findings.append(Self.extra(entry)) }

    let reader = try SourceReader(root: tree, settings, files: files, sourceProblems: sourceProblems)
    let digests = try await SourceDigests.run(
      Array(sameShape.indices.map(Int32.init)), sameShape.map(\.entry), limit: .max, reader: reader,
      backend: pack.source.backend, jobs: jobs, progress: nil)
    try sourceProblems.check(tree)
    for (number, pair) in sameShape.enumerated() where digests[Int32(number)] != pair.digest {
      findings.append(TreeDifference(kind: .differs, path: pair.entry.path, message: "has different content"))
    }
    return findings.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }

  private static func extra(_ entry: SourceEntry) -> TreeDifference {
    TreeDifference(kind: .extra, path: entry.path, message: "is not in the pack")
  }

  private static func difference(_ entry: SourceEntry, _ packed: Entry) -> String? {
    let isDirectory = entry.kind == .directory
    guard isDirectory == (packed.kind == .directory) else {
      return isDirectory ? "is a directory, but a file in the pack" : "is a file, but a directory in the pack"
    }
    guard entry.size == packed.size else {
      return "is \(entry.size) bytes, but \(packed.size) bytes in the pack"
    }
    guard (entry.kind == .executable) == packed.isExecutable else {
      return packed.isExecutable ? "is not executable, but is in the pack" : "is executable, but is not in the pack"
    }
    return nil
  }
}
