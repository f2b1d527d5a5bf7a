/// The most space that the packs take on the device while an app goes from one release to the next.
///
/// What it assumes: all pack files that are new arrive before the app opens the store, are moved and not copied, and are installed one after the other, and
/// only then activated. ``order`` is the worst order. Space is counted in blocks of 4 KiB, and 4 KiB for each directory (FORMAT.md §9.3).
package struct StorePeak: Hashable, Sendable {
  /// The versions that are on the device before, in bytes.
  package let kept: UInt64
  /// The new versions at the worst moment: those that are installed, the files that wait, and the file and the tree of the one that is being unpacked.
  package let arriving: UInt64
  /// The manifest, the record of each pack, the directories of the store, and one small file that is being replaced.
  package let records: UInt64
  /// The packs that are new, in the order of installation that takes the most space.
  package let order: [String]

  /// The number of bytes in total.
  package var total: UInt64 { kept.adding(arriving).adding(records) }

  private static let block: UInt64 = 4096
  /// The number of directories of a store, itself included, and its file `store`: a block each.
  private static let places = UInt64(StoreDirectory.Part.allCases.count) + 2

  /// Adds up what a device holds that goes to a release.
  ///
  /// - Parameters:
  ///   - packs: The packs of the new release.
  ///   - installed: The versions on the device, by pack. Packs that the new release does not have count, too.
  ///   - manifestSize: The size of the manifest in bytes, before and after.
  package init(updatingTo packs: [ManifestPack], installed: [String: [ManifestPack]], manifestSize: UInt64) {
    let new = packs.filter { pack in !(installed[pack.id] ?? []).contains { $0.bytes == pack.bytes } }
    var kept: UInt64 = 0
    for versions in installed.values { for version in versions { kept = kept.adding(version.sizeOnDevice) } }
    self.kept = kept

    // What a pack adds after its installation: its content, and its record if the store had none.
    func installedSize(_ pack: ManifestPack) -> UInt64 { pack.sizeOnDevice.adding(installed[pack.id] == nil ? Self.block : 0) }
    // What a pack adds at most before or after the installation of another one.
    func larger(_ pack: ManifestPack) -> UInt64 { max(Self.blocks(pack.size), installedSize(pack)) }
    // The file is there until the tree that is unpacked from it is recorded.
    func during(_ pack: ManifestPack) -> UInt64 { Self.blocks(pack.size).adding(pack.install == .unpacked ? pack.installSize : 0) }

    let sum = new.reduce(0 as UInt64) { $0.adding(larger($1)) }
    let files = new.reduce(0 as UInt64) { $0.adding(Self.blocks($1.size)) }
    let worst = new.max { during($0).less(larger($0)) < during($1).less(larger($1)) }
    func isGrowing(_ pack: ManifestPack) -> Bool { installedSize(pack) > Self.blocks(pack.size) }
    let others = new.filter { $0.id != worst?.id }
    order = (others.filter(isGrowing) + (worst.map { [$0] } ?? []) + others.filter { !isGrowing($0) }).map(\.id)

    // While a pack is installed, and after the last one, the store writes a record anew beside the old one.
    let unpacking = worst.map { sum.less(larger($0)).adding(during($0)) } ?? 0
    let end = new.reduce(0 as UInt64) { $0.adding(installedSize($1)) }
    let installing = max(unpacking, end).adding(Self.block)
    // Before, it writes the new manifest beside the old one, while all files wait. A new store has no old one.
    let accepting = installed.isEmpty ? 0 : files.adding(Self.blocks(manifestSize))
    arriving = max(installing, accepting).less(Self.block)

    let memory = packs.reduce(256 as UInt64) { $0.adding(UInt64($1.id.utf8.count) + 24) }
    let known = UInt64(installed.count)
    records = (Self.places + known + 1).times(Self.block).adding(Self.blocks(manifestSize)).adding(Self.blocks(memory))
  }

  /// Adds up what a device holds that follows a history of releases with a store of this policy: it opens each pack after each release, and then removes
  /// the packs that the release no longer has.
  ///
  /// - Parameter earlier: The packs of the releases before, the oldest first.
  package init(updatingTo packs: [ManifestPack], after earlier: [[ManifestPack]], policy: StorePolicy, manifestSize: UInt64) {
    var installed: [String: [ManifestPack]] = [:]
    for release in earlier {
      let ids = Set(release.map(\.id))
      for id in installed.keys where !ids.contains(id) { installed[id] = nil }
      for pack in release where installed[pack.id]?.last?.bytes != pack.bytes {
        installed[pack.id] = (installed[pack.id] ?? []).suffix(policy.keepVersions - 1) + [pack]
      }
    }
    self.init(updatingTo: packs, installed: installed, manifestSize: manifestSize)
  }

  /// Adds up what a device holds that has as many earlier versions of each pack as a store of this policy keeps, each as large as the new one, and gets
  /// new bytes of all packs.
  package init(updatingAll packs: [ManifestPack], policy: StorePolicy, manifestSize: UInt64) {
    var installed: [String: [ManifestPack]] = [:]
    for pack in packs {
      var version = pack
      // No pack of a release has this version.
      version.version = 0
      installed[pack.id] = Array(repeating: version, count: policy.keepVersions)
    }
    self.init(updatingTo: packs, installed: installed, manifestSize: manifestSize)
  }

  private static func blocks(_ size: UInt64) -> UInt64 { size.adding(block - 1) / block * block }
}
