extension ReleaseBuild {
  /// Packs the sources of a pack as a build does, except for some changes, into a file outside the release.
  ///
  /// - Parameters:
  ///   - path: the file, which is replaced.
  ///   - level: the level; nil for that of the configuration.
  ///   - order: the order of the files; nil for that of the configuration.
  ///   - leftOut: paths of files that are left out.
  ///   - excludes: patterns of paths that are left out.
  ///   - key: any application key. It does not change the size.
  package func trial(
    of pack: PackerConfiguration.Pack, to path: String, level: PackLevel? = nil, order: LoadOrder? = nil, without leftOut: Set<String> = [],
    excluding excludes: [String] = [], key: borrowing PackKey, progress: ProgressHandler? = nil
  ) async throws(PackError) -> PackReport {
    var job = job(for: pack)
    job.output = path
    if let level { job.settings.level = level }
    if let order { job.settings.order = order }
    job.leftOut = leftOut
    job.settings.excludes += excludes
    job.looksForUnneeded = true
    return try await job.run(key: key, progress: progress)
  }
}
