/// The content of a directory as a pack, found by reading the directory without compressing or writing anything.
///
/// Everything that packing would refuse is refused here too, so that a build of many packs reports all problems before it starts packing.
struct SourceCensus: Sendable {
  /// The digest that names the tree, 32 bytes.
  let contentRoot: [UInt8]
  /// The sum of the sizes of all files in bytes.
  let contentSize: UInt64
  /// The number of entries: files and empty directories.
  let entryCount: Int
  /// The paths that are left out, in byte order.
  let omitted: [OmittedPath]
  /// The patterns that exclude nothing.
  let unmatched: [String]

  /// Reads the whole source of a job.
  ///
  /// - Parameter progress: called for every piece, in bytes of content.
  static func run(_ job: PackJob, progress: ProgressHandler?) async throws(PackError) -> SourceCensus {
    let workers = try WorkerPool.size(for: job.jobs)
    let sourceProblems = SourceProblems(job.words)
    let scan = try await DirectoryScan.run(
      job.source, job.settings, files: job.files, sourceProblems: sourceProblems, jobs: workers)
    let reader = try SourceReader(root: job.source, job.settings, files: job.files, sourceProblems: sourceProblems)
    let numbers = scan.entries.indices.filter { scan.entries[$0].kind != .directory }.map { Int32($0) }
    let digests = try await SourceDigests.run(
      numbers, scan.entries, limit: .max, checkingSecrets: !job.settings.allowsSecrets, reader: reader, backend: job.backend, jobs: workers,
      progress: progress)
    try sourceProblems.check(job.source)
    let root = try ContentRoot(backend: job.backend)
    let noDigest = [UInt8](repeating: 0, count: 32)
    for (number, entry) in scan.entries.enumerated() {
      let digest = digests[Int32(number)] ?? noDigest
      let path = Array(entry.path.utf8)
      try root.add(path: path.byteSpan, kind: entry.kind, size: entry.size, digest: digest.byteSpan)
    }
    return SourceCensus(
      contentRoot: try root.finish(), contentSize: scan.contentSize, entryCount: scan.entries.count, omitted: scan.omitted,
      unmatched: scan.unmatched)
  }
}
