import PackCrypto
package import PackFiles
package import PackFormat
package import PackManifest
package import PackProject

/// The packs that a build has to make, as units of work for several machines, and everything that the build decides once for all of them.
///
/// It holds no secrets. With the same sources, configuration, lock file, earlier build and time, it is the same byte for byte.
package struct BuildPlan: Hashable, Sendable {
  /// One pack to make.
  package struct Unit: Hashable, Sendable {
    /// What its bytes follow from.
    package var identity: PackIdentity
    /// The directory of its source, relative to the configuration if it is below that.
    package var source: String
    /// The sum of the sizes of its files in bytes.
    package var contentSize: UInt64
    /// The time that one core needs, in milliseconds, estimated from size and level.
    package var cost: UInt64
  }

  /// The versions of packer and of its compression library. Others may make other bytes.
  package var maker: String
  /// SHA-256 of the configuration, 32 bytes.
  package var configuration: [UInt8]
  /// SHA-256 of the lock file, 32 bytes. Nil if there was none.
  package var lock: [UInt8]?
  /// The version of the published manifest that the build was given. Nil if it was given none.
  package var published: UInt64?
  /// The time of the release.
  package var time: ManifestTime
  /// Whether the time was set from outside.
  package var isTimeFixed: Bool
  /// The ids of the packs to build. Empty means all packs.
  package var wanted: [String]
  /// The units. Their numbers start from 1.
  package var units: [Unit]

  /// The file of a plan, beside the configuration.
  package static let fileName = "plan.json"

  /// The digest that names the plan, 32 bytes.
  package func digest() throws(PackError) -> [UInt8] {
    let document = document
    return try CryptoBackends.standard.digest(of: document.byteSpan)
  }

  /// Returns the number of a unit and the pack that it makes, for messages.
  package func title(of number: Int) -> String { "unit \(number) (pack '\(units[number - 1].identity.id)')" }

  // MARK: Making

  /// Plans a build.
  ///
  /// - Parameters:
  ///   - report: the report of a trial run of the build.
  ///   - maker: the version of packer.
  package init(of build: ReleaseBuild, _ report: ReleaseBuildReport, maker: String) throws(PackError) {
    self.maker = Self.maker(maker)
    configuration = try Self.digest(of: build.configuration.path, files: build.files)
    lock = try Self.lockDigest(of: build)
    published = build.published?.version
    (time, isTimeFixed, wanted, units) = (build.time.now, build.time.isFixed, build.wanted.sorted(), [])
    let packs = Dictionary(build.configuration.packs.map { ($0.id.text, $0) }) { first, _ in first }
    let front = build.configuration.path(of: "")
    for item in report.items where item.action == .packed {
      guard let identity = item.identity, let pack = packs[item.id] else { continue }
      let isBelow = !front.isEmpty && pack.root.hasPrefix(front)
      units.append(
        Unit(
          identity: identity, source: isBelow ? String(pack.root.dropFirst(front.count)) : pack.root, contentSize: item.contentSize,
          cost: (PackLevel(pack.level) ?? .balanced).cost(item.contentSize)))
    }
  }

  /// Returns the versions that make the bytes of packs.
  package static func maker(_ packer: String) -> String { "packer \(packer), \(LibraryVersions.lines.last ?? "")" }

  // MARK: Checking

  /// Throws if a plan was made by another packer, or from another configuration.
  package func check(_ configuration: PackerConfiguration, maker: String, files: any FileSystem) throws(PackError) {
    let maker = Self.maker(maker)
    guard self.maker == maker else {
      throw PackError(
        .wrongPlan, "the plan was made by \(self.maker), and this is \(maker), which may make other bytes",
        hint: "use the same packer everywhere")
    }
    guard try Self.digest(of: configuration.path, files: files) == self.configuration else { throw Self.changed(configuration.path) }
  }

  /// Throws if the lock file of a build is not the one that the plan was made with.
  package func checkLock(of build: ReleaseBuild) throws(PackError) {
    guard try Self.lockDigest(of: build) == lock else { throw Self.changed(build.lockPath) }
  }

  private static func changed(_ path: String) -> PackError {
    PackError(.wrongPlan, of: path, "is not the one that the plan was made from", hint: newPlan)
  }

  /// The hint for whatever changed since a plan was made.
  static let newPlan = "bring what the plan was made from, or make a new one with 'packer build --plan'"

  private static func digest(of path: String, files: any FileSystem) throws(PackError) -> [UInt8] {
    let bytes = try files.contents(of: path, limit: RecordFile.largestSize)
    return try CryptoBackends.standard.digest(of: bytes.byteSpan)
  }

  private static func lockDigest(of build: ReleaseBuild) throws(PackError) -> [UInt8]? {
    do throws(PackError) {
      return try digest(of: build.lockPath, files: build.files)
    } catch {
      guard error.code == .missingInput else { throw error }
      return nil
    }
  }

  // MARK: Choosing

  /// Returns the numbers of the units in one of several shares of about the same cost, ascending.
  ///
  /// - Parameter share: from 1 to `count`.
  package func units(ofShare share: Int, of count: Int) -> [Int] {
    var loads = [UInt64](repeating: 0, count: min(count, max(units.count, 1)))
    var chosen: [Int] = []
    // The most expensive unit goes to the share with the least work so far.
    for index in units.indices.sorted(by: { (units[$1].cost, $0) < (units[$0].cost, $1) }) {
      let least = loads.indices.min { (loads[$0], $0) < (loads[$1], $1) } ?? 0
      loads[least] = loads[least].adding(units[index].cost)
      if least == share - 1 { chosen.append(index + 1) }
    }
    return chosen.sorted()
  }

  // MARK: The file

  /// Reads a plan.
  package init(reading path: String, files: any FileSystem = SystemFiles()) throws(PackError) {
    let value = try RecordFile.read(path, files: files)
    do throws(PackError) {
      try self.init(value)
    } catch {
      throw error.about(path)
    }
  }

  /// Writes the plan to a file. An earlier one is replaced.
  package func write(to path: String, for build: ReleaseBuild) throws(PackError) {
    for pack in build.configuration.packs { try Self.check(path, isNotIn: pack, files: build.files) }
    let folder = PathParts(path).flatMap { try? build.files.canonicalPath(of: $0.directory) }
    guard folder == nil || folder != (try? build.files.canonicalPath(of: build.output)) else {
      throw PackError(.usage, of: path, "is inside the release, which a build replaces", hint: "choose a place outside it")
    }
    if ReleasePlaces.exists(path), (try? BuildPlan(reading: path, files: build.files)) == nil {
      throw PackError(.outputExists, of: path, "exists, and is no plan", hint: "choose another place, or remove it")
    }
    try OutputFile.update(path, to: document, files: build.files)
  }

  /// Throws if a path is inside the root of a pack that does not exclude it: it would be packed itself, and change the source.
  static func check(_ path: String, isNotIn pack: PackerConfiguration.Pack, files: any FileSystem) throws(PackError) {
    guard pack.place(of: path, files: files) != nil else { return }
    throw PackError(
      .usage, of: path, "is inside \(pack.root), the root of pack '\(pack.id)', and would be packed",
      hint: "choose a place outside it, or exclude it from the pack")
  }

  private static let version: UInt64 = 1

  /// The bytes of the file.
  var document: [UInt8] {
    RecordValue.sorted([
      "configuration": .text(configuration.hex), "isTimeFixed": .flag(isTimeFixed), "lock": .text(lock?.hex), "maker": .text(maker),
      "packs": .texts(wanted), "published": RecordValue.number(published), "time": .text(time.description),
      "units": .list(units.map(\.record)), "version": .number(Self.version),
    ]).document
  }

  private init(_ value: RecordValue) throws(PackError) {
    var fields = try RecordFields(value, "the plan")
    let version = try fields.number("version")
    guard version == Self.version else {
      throw PackError(.invalidRecord, "the plan has version \(version), but this packer reads version \(Self.version)", hint: Self.newPlan)
    }
    maker = try fields.text("maker")
    configuration = try fields.bytes("configuration", count: 32)
    if fields.has("published") { published = try fields.number("published") }
    if fields.has("lock") { lock = try fields.bytes("lock", count: 32) }
    time = try fields.time("time")
    isTimeFixed = try fields.flag("isTimeFixed")
    wanted = try fields.texts("packs")
    units = []
    for item in try fields.list("units") { units.append(try Unit(item)) }
    try fields.finish()
    var ids: Set<String> = []
    for unit in units where !ids.insert(unit.identity.id).inserted {
      throw PackError(.invalidRecord, "pack '\(unit.identity.id)' is listed twice")
    }
  }
}

extension BuildPlan.Unit {
  fileprivate init(_ value: RecordValue) throws(PackError) {
    var fields = try RecordFields(value, "a unit")
    identity = PackIdentity(
      id: try fields.packName("id"), contentRoot: try fields.bytes("contentRoot", count: 32), keyID: try fields.keyID("keyID"),
      settings: try fields.text("settings"), version: try fields.number("packVersion"))
    if fields.has("released") { identity.released = try fields.bytes("released", count: 32) }
    source = try fields.text("source")
    contentSize = try fields.number("contentSize")
    cost = try fields.number("cost")
    try fields.finish()
  }

  fileprivate var record: RecordValue {
    .sorted([
      "contentRoot": .text(identity.contentRoot.hex), "contentSize": .number(contentSize), "cost": .number(cost), "id": .text(identity.id),
      "keyID": .text(identity.keyID), "packVersion": .number(identity.version), "released": .text(identity.released?.hex),
      "settings": .text(identity.settings), "source": .text(source),
    ])
  }
}

extension PackError.Code {
  /// A source, a configuration or a part is not the one that a plan was made for.
  package static let wrongPlan = Self(rawValue: "wrong-plan")
}
