package import PackFiles
package import PackFormat
import PackProject

/// The units of a plan that workers made, as packs for a build.
package struct UnitParts: ReadyPacks {
  private let plan: BuildPlan
  /// The path of the plan, for hints.
  private let planPath: String
  /// The directory of each unit that is there, and its record.
  private let parts: [Int: (directory: String, record: UnitRecord)]
  /// The numbers of the units of which there are several equal parts, ascending.
  package let doubled: [Int]

  /// Reads the records of all parts.
  ///
  /// - Parameter paths: directories of units, or directories that hold these. Anything else in them is ignored, such as what a worker left that was
  ///   stopped.
  /// - Throws: ``PackError/Code/wrongPlan`` for a part of another plan or of other sources, and for two parts of a unit that differ.
  package init(_ paths: [String], of plan: BuildPlan, at planPath: String, files: any FileSystem = SystemFiles()) throws(PackError) {
    let digest = try plan.digest()
    var parts: [Int: (directory: String, record: UnitRecord)] = [:]
    var doubled: Set<Int> = []
    // Workers make no directory if there is nothing to pack.
    for path in plan.units.isEmpty ? [] : paths {
      let found = try Self.units(in: path, files: files)
      guard !found.isEmpty else {
        throw PackError(.missingInput, of: path, "holds no unit of a plan", hint: "'packer build --unit' makes them")
      }
      for (directory, record) in found {
        let title = "\(directory), unit \(record.unit) (pack '\(record.id)'),"
        guard record.plan == digest, plan.units.indices.contains(record.unit - 1) else {
          throw PackError(.wrongPlan, of: title, "is of another plan", hint: "remove it, and build the unit again")
        }
        let identity = plan.units[record.unit - 1].identity
        guard record.id == identity.id, record.contentRoot == identity.contentRoot else {
          throw PackError(.wrongPlan, of: title, "is made from other sources", hint: "remove it, and build the unit again")
        }
        guard let other = parts.updateValue((directory, record), forKey: record.unit), other.directory != directory else { continue }
        guard other.record == record else {
          throw PackError(
            .wrongPlan, of: title, "differs from \(other.directory), although both must be the same",
            hint: "remove both, and build the unit again")
        }
        doubled.insert(record.unit)
      }
    }
    (self.plan, self.planPath, self.parts, self.doubled) = (plan, planPath, parts, doubled.sorted())
  }

  /// Returns the units in a directory, each with its record, in the order of their numbers.
  private static func units(in path: String, files: any FileSystem) throws(PackError) -> [(String, UnitRecord)] {
    if let record = try UnitRecord(in: path, files: files) { return [(path, record)] }
    let directory: OpenFile
    let names: [DirectoryName]
    do throws(FileFailure) {
      directory = try files.open(path, .directory, in: nil)
      names = try files.names(in: directory)
    } catch {
      throw error.reading(path)
    }
    var units: [(String, UnitRecord)] = []
    // Temporary directories of workers have names with a period in front.
    for name in names.map(\.text).sorted() where !name.hasPrefix(".") {
      guard (try? files.status(of: name, in: directory, following: .followed))?.kind == .directory else { continue }
      if let record = try UnitRecord(in: "\(path)/\(name)", files: files) { units.append(("\(path)/\(name)", record)) }
    }
    return units.sorted { $0.1.unit < $1.1.unit }
  }

  package func check(_ build: ReleaseBuild) throws(PackError) {
    let (planned, given) = (plan.published, build.published?.version)
    guard planned != given else { return }
    throw PackError(
      .wrongPlan, of: planPath,
      planned.map { "was made with --published, where manifest \($0) was" } ?? "was made without --published",
      hint: "give the same manifest here, or make a new plan with 'packer build --plan'")
  }

  package func packs(_ wanted: [PackIdentity]) throws(PackError) -> [ReadyPack?] {
    let numbers = Dictionary(plan.units.enumerated().map { ($1.identity.id, $0 + 1) }) { first, _ in first }
    var packs: [ReadyPack] = []
    var missing: [Int] = []
    for identity in wanted {
      guard let number = numbers[identity.id] else {
        throw PackError(
          .wrongPlan, of: "pack '\(identity.id)'", "has to be packed, and is in no unit of \(planPath)", hint: BuildPlan.newPlan)
      }
      let planned = plan.units[number - 1].identity
      guard planned == identity else {
        let what =
          planned.contentRoot != identity.contentRoot
          ? "other files"
          : planned.keyID != identity.keyID ? "another key" : planned.settings != identity.settings ? "other settings" : "another version"
        throw PackError(.wrongPlan, of: plan.title(of: number), "has \(what) than when the plan was made", hint: BuildPlan.newPlan)
      }
      guard let (directory, record) = parts[number] else {
        missing.append(number)
        continue
      }
      packs.append(
        ReadyPack(
          title: "\(directory), \(plan.title(of: number)),", directory: directory, file: record.file,
          made: (record.size, record.sha256)))
    }
    guard missing.isEmpty else {
      throw PackError(
        .missingInput, "\(missing.count) of \(wanted.count) units are missing: \(UnitNumbers.text(missing))",
        hint: "packer build --plan \(ShellWord.path(planPath)) --unit \(UnitNumbers.text(missing))")
    }
    return packs
  }
}
