/// Compares the documents beside a manifest with it.
enum CompanionReading {
  static func all(
    names: [String], place: ReleaseInspection.Place, manifest: Manifest, packs: [ManifestPack], files: any FileSystem
  ) -> [Companion] {
    var companions: [Companion] = []
    if names.contains(BuildRecord.fileName) { companions.append(record(names, place, files)) }
    if names.contains(ReleaseFile.packages) { companions.append(packages(place.path(ReleaseFile.packages), packs, files)) }
    let name = ReleaseFile.infoFragment
    if names.contains(name) { companions.append(fragment(place.path(name), manifest, files)) }
    for platform in DeviceProfile.Platform.allCases {
      let name = ReleaseFile.infoFragment(for: platform)
      if names.contains(name) { companions.append(fragment(place.path(name), for: platform, manifest, files)) }
    }
    return companions
  }

  /// Reads the build record, which `packer release record` needs, and looks for the list of packs that it names.
  private static func record(_ names: [String], _ place: ReleaseInspection.Place, _ files: any FileSystem) -> Companion {
    var companion = Companion(path: place.path(BuildRecord.fileName), disagreements: [])
    do throws(PackError) {
      let record = try BuildRecord.read(in: place.directory, files: files)
      if record.files.contains(ReleaseFile.packages), !names.contains(ReleaseFile.packages) {
        companion.disagreements = ["\(ReleaseFile.packages) is missing"]
      }
    } catch {
      companion.disagreements = ["it cannot be read: \(error.message)"]
    }
    return companion
  }

  /// A pack in packages.json, the list for apps that parse it themselves.
  private struct Package {
    let id: String
    let isEssential: Bool
    let path: String
    let size: UInt64

    init(_ value: JSON) throws(PackError) {
      var fields = try RecordFields(value, "a package")
      id = try fields.text("id")
      isEssential = try fields.flag("essential")
      path = try fields.text("path")
      size = try fields.number("size")
    }
  }

  private static func packages(_ path: String, _ packs: [ManifestPack], _ files: any FileSystem) -> Companion {
    var companion = Companion(path: path, disagreements: [])
    var listed: [Package] = []
    do throws(PackError) {
      var fields = try RecordFields(try RecordFile.read(path, files: files), "the list")
      for item in try fields.list("packages") { listed.append(try Package(item)) }
      if fields.has("onDemand") {
        for item in try fields.list("onDemand") { listed.append(try Package(item)) }
      }
    } catch {
      companion.disagreements = [error.message]
      return companion
    }
    let packages = Dictionary(listed.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for entry in packs {
      guard let package = packages[entry.id] else {
        companion.disagreements.append("'\(entry.id)' is missing")
        continue
      }
      if package.size != entry.size {
        let sizes = SizeText.pair(package.size, entry.size)
        companion.disagreements.append("'\(entry.id)' is \(sizes.0), but \(sizes.1) in the manifest")
        companion.hasWrongSize = true
      }
      if package.path != entry.url {
        companion.disagreements.append("'\(entry.id)' is at \(package.path), but at \(entry.url) in the manifest")
      }
      if package.isEssential != entry.isEssentialAsWhole {
        companion.disagreements.append(
          "'\(entry.id)' is \(package.isEssential ? "" : "not ")essential, but \(entry.delivery.rawValue) in the manifest")
      }
    }
    let ids = Set(packs.map(\.id))
    companion.disagreements += listed.filter { !ids.contains($0.id) }.map { "'\($0.id)' is not in the manifest" }
    return companion
  }

  /// Compares the fragment of a platform. Headroom and the reserve for the manifest are not known here, so its numbers are between what the packs of the
  /// platform need and what the manifest says for all.
  private static func fragment(
    _ path: String, for platform: DeviceProfile.Platform, _ manifest: Manifest, _ files: any FileSystem
  ) -> Companion {
    var companion = Companion(path: path, disagreements: [])
    do throws(PackError) {
      let sighting = PlistSighting(try InfoPlist.read(path, files: files))
      let demand = ReleaseDemand(manifest.packs, for: platform, manifestSize: 0)
      for (key, needed) in demand.named {
        guard let value = sighting.number(key) else { continue }
        let most = manifest.budget?.named.first { $0.key == key }?.bytes ?? .max
        guard !ReleaseDemand.fits(needed, in: value, key) || value > most else { continue }
        let sizes = SizeText.pair(value, value > most ? most : needed)
        companion.disagreements.append(
          "\(key) is \(sizes.0), but \(value > most ? "at most \(sizes.1) in the manifest" : "the packs for \(platform.rawValue) need \(sizes.1)")"
        )
      }
    } catch {
      companion.disagreements = [error.message]
    }
    return companion
  }

  private static func fragment(_ path: String, _ manifest: Manifest, _ files: any FileSystem) -> Companion {
    var companion = Companion(path: path, disagreements: [])
    do throws(PackError) {
      let sighting = PlistSighting(try InfoPlist.read(path, files: files))
      companion.disagreements = sighting.keys.problems.map(\.message)
      let isWithout = sighting.numbers.isEmpty && sighting.keys.problems.isEmpty
      for (key, bytes) in manifest.budget?.named ?? [] {
        guard let value = sighting.number(key) else {
          // With Apple's hosting, no number is there.
          if !isWithout, !companion.disagreements.contains(where: { $0.contains(key) }) {
            companion.disagreements.append("\(key) is missing")
          }
          continue
        }
        guard value != bytes else { continue }
        let sizes = SizeText.pair(value, bytes)
        companion.disagreements.append("\(key) is \(sizes.0), but \(sizes.1) in the manifest")
      }
    } catch {
      companion.disagreements = [error.message]
    }
    return companion
  }
}
