package import PackCrypto
import PackFiles
package import PackFormat
import PackProject
package import PackReading

/// Makes single packs of a plan, each into a directory of its own, with the key of that pack and no other secret.
package struct UnitBuild: Sendable {
  package let plan: BuildPlan
  private let digest: [UInt8]
  /// The settings of the packs. Its signing and its output are not used.
  private let build: ReleaseBuild

  /// - Parameters:
  ///   - build: a build of the configuration that the plan was made from. The directories of other packs need not exist.
  ///   - maker: the version of packer.
  package init(_ plan: BuildPlan, _ build: ReleaseBuild, maker: String) throws(PackError) {
    try plan.check(build.configuration, maker: maker, files: build.files)
    self.plan = plan
    digest = try plan.digest()
    var build = build
    build.time = BuildTime(plan.time, isFixed: plan.isTimeFixed)
    self.build = build
  }

  /// Makes the pack of a unit in the directory `folder/number`, which appears whole or not at all.
  ///
  /// If it is there already, it is checked and left. Another worker may make the same unit there at the same time.
  ///
  /// - Parameter number: the number of the unit, from 1.
  /// - Returns: what is in the directory, and whether it was there.
  /// - Throws: ``PackError/Code/wrongKey`` if the key is not the pack's own, ``PackError/Code/wrongPlan`` if the source is not the one that the plan
  ///   was made from.
  package func run(
    _ number: Int, key: borrowing PackKey, into folder: String, progress: ProgressHandler? = nil
  ) async throws(PackError) -> (record: UnitRecord, wasThere: Bool) {
    let (identity, title) = (plan.units[number - 1].identity, plan.title(of: number))
    // A root key makes the same pack, but a worker has no need of it.
    guard "\(key.id)" == identity.keyID else {
      let hint = build.configuration.perPackKeys ? "make it with: packer key derive --pack \(identity.id)" : nil
      throw PackError(.wrongKey, of: title, "needs key \(identity.keyID), but the key given is \(key.id)", hint: hint)
    }
    guard let pack = build.configuration.packs.first(where: { $0.id.text == identity.id }) else {
      throw PackError(.wrongPlan, of: title, "has no source here: \(plan.units[number - 1].source)", hint: BuildPlan.newPlan)
    }
    try BuildPlan.check(folder, isNotIn: pack, files: build.files)
    let place = "\(folder)/\(number)"
    if let found = try present(number, at: place) { return (found, true) }

    var job = try build.job(for: pack)
    job.usesPackKey = false
    let census = try await SourceCensus.run(job, progress: progress)
    let settings = ReleaseBuild.settings(of: job)
    guard census.contentRoot == identity.contentRoot, settings == identity.settings else {
      throw PackError(
        .wrongPlan, of: title, "has other files in \(pack.root) than those that the plan was made from", hint: BuildPlan.newPlan)
    }
    do throws(FileFailure) {
      try build.files.makeDirectory(folder, mode: 0o755, in: nil)
    } catch {
      guard error.isExisting else { throw error.writing(folder) }
    }
    let staged = try StagedRelease(place, files: build.files, backend: build.backend)
    do throws(PackError) {
      var decisions = [
        ReleaseBuild.PackDecision(
          pack: pack, job: job, settings: settings, keyID: identity.keyID, census: census,
          edition: PackEdition(of: identity, created: plan.time), made: nil)
      ]
      let cached = try CachedFiles(build, staged)
      try await build.takeCached(&decisions, key: key, from: cached, into: staged)
      try await build.pack(&decisions, key: key, into: staged, cached: cached, progress: progress)
      try cached?.finish()
      _ = try build.item(for: decisions[0], key: key, in: staged)
      guard let made = decisions[0].result else { preconditionFailure("the pack was made") }
      let record = UnitRecord(plan: digest, unit: number, made)
      try staged.write(record.document, to: UnitRecord.fileName)
      try build.checkpoint()
      do throws(PackError) {
        try staged.commit()
      } catch {
        // Another worker may have been faster.
        guard let found = try? present(number, at: place), found == record else { throw error }
        return (found, true)
      }
      return (record, false)
    } catch {
      throw staged.naming(error)
    }
  }

  /// Returns what is at the place of a unit if it is that unit, whole. Returns nil if nothing is there, or something that may be replaced.
  private func present(_ number: Int, at place: String) throws(PackError) -> UnitRecord? {
    guard let directory = try? build.files.open(place, .directory, in: nil) else { return nil }
    let record: UnitRecord?
    do throws(PackError) {
      record = try UnitRecord(in: place, files: build.files)
    } catch {
      guard error.code == .invalidRecord else { throw error }
      return nil
    }
    guard let record else {
      guard let names = try? build.files.names(in: directory), names.isEmpty else {
        throw PackError(.outputExists, of: place, "holds no unit of a plan", hint: "choose another directory with -o, or move it away")
      }
      return nil
    }
    guard record.plan == digest, record.unit == number,
      let found = try? FileDigest.run(record.file, in: directory, title: record.file, files: build.files, backend: build.backend),
      found.size == record.size, found.sha256 == record.sha256
    else { return nil }
    return record
  }
}
