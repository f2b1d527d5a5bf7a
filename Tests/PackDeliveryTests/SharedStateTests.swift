import TestSupport
import Testing

@Suite("The state that app and extension share", .bounded)
struct SharedStateTests {
  private let disk = MemoryDisk()
  private let clock = TestClock()

  private func open(_ files: MemoryFiles? = nil) throws(PackError) -> SharedState {
    try .sample(files ?? MemoryFiles(disk), clock)
  }

  private func plan(_ state: SharedState, _ packs: ManifestPack..., facts: DeliveryFacts? = nil) throws(PackError) -> DeliveryPlan {
    try state.plan(for: manifest(packs), facts: facts ?? DeliveryFacts(.periodic, at: clock.secondsSince1970)).plan
  }

  // MARK: The directory

  @Test("a directory is created with everything it needs, and reopened with its content")
  func made() throws {
    #expect(try open().content() == SharedState.Content())
    #expect(disk.bytes(of: "/group/delivery") == Array("packer-delivery/2\n".utf8))
    try open().schedule(offer("a"))
    #expect(try open().status(of: "a")?.state == .scheduled)
    #expect(try open().status(of: "b") == nil)
  }

  @Test("a record survives a power failure, also in a new directory")
  func powerFailure() throws {
    _ = try plan(try open(), offer("a"))
    let state = try SharedState.sample(MemoryFiles(disk.after(.powerCut)), clock)
    #expect(try state.status(of: "a")?.state == .scheduled)
  }

  @Test("a plan with many records has one for each pack after a power failure, and damaged ones are made anew", arguments: [9, 32, 70])
  func powerFailureAfterManyRecords(_ count: Int) throws {
    let ids = (1...count).map { "p\($0)" }
    let packs = manifest(ids.map { offer($0) })
    let facts = DeliveryFacts(.periodic, at: clock.secondsSince1970)
    #expect(try open().plan(for: packs, facts: facts).plan.downloads.count == count)
    let state = try SharedState.sample(MemoryFiles(disk.after(.powerCut)), clock)
    let content = try state.content()
    #expect(Set(content.records.map(\.id)).union(content.damaged) == Set(ids))
    let again = try state.plan(for: packs, facts: facts)
    #expect(Set(again.plan.downloads.map(\.id)).isSuperset(of: content.damaged) && Set(again.rebuilt) == Set(content.damaged))
  }

  @Test("a directory of another version is refused, and a damaged marker of this version is repaired", arguments: [1, 3])
  func versions(_ other: Int) throws {
    disk.write(Array("packer-delivery/\(other)\n".utf8), to: "/group/delivery")
    #expect(failure { () throws(PackError) in _ = try open() }?.code == .unsupported)
    #expect(failure { () throws(PackError) in _ = try open() }?.advice == .updateApp)
    disk.write([0, 0, 0], to: "/group/delivery")
    _ = try open()
    #expect(disk.bytes(of: "/group/delivery") == Array("packer-delivery/2\n".utf8))
  }

  @Test("a directory that is removed while in use is recreated empty")
  func removed() throws {
    let state = try open()
    try state.schedule(offer("a"))
    disk.remove("/group")
    #expect(try state.content() == SharedState.Content())
    #expect(try plan(state, offer("a")).downloads.map(\.id) == ["a"])
    disk.remove("/group/incoming")
    #expect(try state.park(disk.downloaded(), asDownload: identifier("a")) == .moved)
    disk.remove("/group/packs")
    #expect(try plan(state, offer("a")).handOver.map(\.id) == ["a"])
    #expect(try state.status(of: "a")?.state == .notLoaded(.arrived))
  }

  @Test("every transition, taken through the files: each record agrees with the state machine", arguments: DeliveryEdge.all)
  func edges(_ edge: DeliveryEdge) throws {
    let sample = try #require(DeliveryStateTests.samples[edge.from])
    let state = try open()
    disk.write(sample.record, to: "/group/packs/a")
    let event = try #require(DeliveryStateTests.events[edge.event])
    let now = try state.note(event, ofDownload: identifier("a"))
    #expect(now?.state.kind == edge.to)
    #expect(try open().status(of: "a") == now)
  }

  // MARK: The cost of a transition

  @Test("a transition takes the same few operations with one pack and with two thousand")
  func constantCost() throws {
    var costs: Set<[Int]> = []
    for count in [1, 2000] {
      let disk = MemoryDisk()
      for number in 0..<count { disk.write(status("p\(number)", .scheduled(isEssential: false)).record, to: "/group/packs/p\(number)") }
      let files = MemoryFiles(disk)
      let state = try SharedState.sample(files, clock)
      let (calls, changes) = (files.callCount, files.changeCount)
      try state.note(.began, ofDownload: identifier("p0"))
      costs.insert([files.callCount - calls, files.changeCount - changes])
    }
    // A temporary file is created, written, synced and renamed, and its directory is synced.
    #expect(costs.count == 1)
    #expect(try #require(costs.first)[1] == 5)
    #expect(try #require(costs.first)[0] < 30)
  }

  @Test("an event that changes nothing writes nothing and takes no lock")
  func idle() throws {
    try open().schedule(offer("a"))
    let files = MemoryFiles(disk)
    let state = try open(files)
    try state.note(.began, ofDownload: identifier("a"))
    let changes = files.changeCount
    let lock = try held(by: MemoryFiles(disk))
    for _ in 0..<100 { try state.note(.began, ofDownload: identifier("a")) }
    #expect(files.changeCount == changes && clock.pausedMilliseconds == 0)
    withExtendedLifetime(lock) {}
  }

  @Test("a record stays within its size limit for any values")
  func recordSize() throws {
    let id = "A" + String(repeating: "Z", count: 63)
    var record = PackStatus(id: id, bytes: PackBytes(version: .max, size: .max, sha256: digest(id, 1)), at: .min)
    for event in [PackEvent.asked, .scheduled(isEssential: true), .paused(.network)] {
      if let next = record.after(event, at: .min) { record = next }
    }
    #expect(record.record.count < PackStatus.largestSize / 2)
    #expect(try PackStatus(reading: record.record, of: id) == record)
  }

  // MARK: Exclusive access

  private func held(by files: MemoryFiles) throws -> OpenFile {
    let lock = try files.open("/group/lock", .readUnlinked, in: nil)
    #expect(try files.tryLock(lock))
    return lock
  }

  @Test("a lock that is never released is waited for one second, without a clock, and then the change is refused")
  func lockHeld() throws {
    let state = try open()
    try state.schedule(offer("a"))
    let lock = try held(by: MemoryFiles(disk))
    let error = failure { () throws(PackError) in try state.note(.began, ofDownload: identifier("a")) }
    #expect(error?.code == .stateBusy)
    #expect(error?.advice == .tryAgain)
    #expect((1000..<1100).contains(clock.pausedMilliseconds))
    #expect(try state.status(of: "a")?.state == .scheduled, "reading needs no lock")
    #expect(failure { () throws(PackError) in _ = try plan(state, offer("b")) }?.code == .stateBusy)
    withExtendedLifetime(lock) {}
  }

  @Test("a process that ends leaves no lock behind")
  func lockOfTheDead() throws {
    let state = try open()
    try state.schedule(offer("a"))
    let dead = MemoryFiles(disk)
    let lock = try held(by: dead)
    dead.end()
    try state.note(.began, ofDownload: identifier("a"))
    #expect(clock.pausedMilliseconds == 0)
    withExtendedLifetime(lock) {}
  }

  @Test("a file that arrives while the lock is held is moved, and the next plan records it")
  func parkedWithoutLock() throws {
    let state = try open()
    try state.schedule(offer("a"))
    do {
      let lock = try held(by: MemoryFiles(disk))
      #expect(try state.park(disk.downloaded(), asDownload: identifier("a")) == .moved)
      withExtendedLifetime(lock) {}
    }
    #expect(disk.bytes(of: "/system/download") == nil && clock.pausedMilliseconds == 0)
    #expect(try state.status(of: "a")?.state == .scheduled)
    let next = try plan(state, offer("a"))
    #expect(next.handOver.map(\.id) == ["a"] && next.downloads.isEmpty)
    #expect(try state.status(of: "a")?.state == .notLoaded(.arrived))
  }

  @Test("if app and extension plan at the same time, each download is in exactly one of the plans")
  func concurrentPlans() async throws {
    let directory = try TemporaryDirectory()
    let packs = (0..<200).map { offer("p\($0)") }
    let plans = try await withThrowingTaskGroup(of: DeliveryPlan.self) { group in
      for _ in 0..<4 {
        group.addTask {
          var policy = DeliveryPolicy()
          policy.lockTimeoutMilliseconds = 60_000
          let state = try SharedState(directory: directory("state"), policy: policy, files: FaultyFiles(), clock: SystemClock())
          return try state.plan(for: manifest(packs), facts: DeliveryFacts(.periodic, at: now)).plan
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(plans.flatMap { $0.downloads.map(\.id) }.sorted() == packs.map(\.id).sorted())
    for plan in plans { #expect(plan.downloads.count + plan.underWay.count == 200) }
  }

  // MARK: Downloaded files

  @Test("a finished file is moved without copying, recorded, and handed over")
  func parked() throws {
    let files = MemoryFiles(disk)
    let state = try open(files)
    try state.schedule(offer("a"))
    let file = disk.downloaded()
    let inode = try files.status(of: file, in: nil, following: .asThemselves).inode
    let changes = files.changeCount
    #expect(try state.park(file, asDownload: identifier("a")) == .moved)
    #expect(files.changeCount - changes == 2, "a rename, and a sync of its directory")
    let record = try #require(try state.status(of: "a"))
    #expect(try record.state == .scheduled && state.hasArrived(record))
    #expect(disk.bytes(of: file) == nil)
    #expect(try files.status(of: "/group/incoming/\(identifier("a"))", in: nil, following: .asThemselves).inode == inode)
    #expect(try state.content().files == [WaitingFile(identifier: record.identifier, size: 1000)])
  }

  @Test("the extension does not read a downloaded file")
  func notRead() throws {
    let directory = try TemporaryDirectory()
    let files = FaultyFiles()
    let state = try SharedState(directory: directory("state"), files: files, clock: clock)
    try state.schedule(offer("a", size: 5_000_000))
    let before = files.bytesRead
    _ = try state.park(try directory.write([UInt8](repeating: 1, count: 5_000_000), to: "download"), asDownload: identifier("a"))
    #expect(files.bytesRead - before < 4096)
    #expect(directory.names(in: "state/incoming") == [identifier("a")])
  }

  @Test("a file with another size is a failed download and is not moved, so that the system removes it", arguments: [0, 999, 1001])
  func wrongSize(_ size: Int) throws {
    let state = try open()
    try state.schedule(offer("a"))
    let parking = try state.park(disk.downloaded(size: size), asDownload: identifier("a"))
    #expect(parking == .wrongSize(.planAgain(try #require(try state.status(of: "a")))))
    #expect(try state.status(of: "a")?.state == .failed(.wrongSize))
    #expect(disk.bytes(of: "/system/download") != nil)
    #expect(try state.content().files.isEmpty)
  }

  @Test("a file that is not needed is not moved: an older version, or a pack that is on the device already")
  func notNeeded() throws {
    let state = try open()
    try state.schedule(offer("a", 2))
    #expect(try state.park(disk.downloaded(), asDownload: identifier("a", 1)) == .notNeeded)
    disk.hold([installed("a", 2)])
    #expect(try plan(state, offer("a", 2)).ready == ["a"])
    #expect(try state.park(disk.downloaded(), asDownload: identifier("a", 2)) == .notNeeded)
    #expect(disk.bytes(of: "/system/download") != nil)
    #expect(try state.park(disk.downloaded(), asDownload: identifier("a", 3)) == .moved)
  }

  @Test("a file of a pack or version without a record is kept for the next plan")
  func unknownFile() throws {
    let state = try open()
    #expect(try state.park(disk.downloaded(), asDownload: identifier("a")) == .moved)
    try state.schedule(offer("b", 1))
    #expect(try state.park(disk.downloaded(), asDownload: identifier("b", 2)) == .moved)
    #expect(try plan(state, offer("a"), offer("b", 2)).handOver.map(\.id) == ["a", "b"])
  }

  @Test("a download of other code, a directory and a missing file are refused, and nothing changes")
  func refusedFiles() throws {
    let state = try open()
    try state.schedule(offer("a"))
    disk.write([], to: "/system/folder/file")
    let before = disk.tree()
    #expect(failure { () throws(PackError) in _ = try state.park("/system/folder/file", asDownload: "other") }?.code == .usage)
    #expect(failure { () throws(PackError) in _ = try state.park("/system/nothing", asDownload: identifier("a")) }?.code == .missingInput)
    #expect(failure { () throws(PackError) in _ = try state.park("/system/folder", asDownload: identifier("a")) }?.code == .cannotRead)
    #expect(disk.tree() == before)
  }

  // MARK: Installing

  private func waiting(_ state: SharedState, _ pack: ManifestPack) throws -> HandOver {
    try state.schedule(pack)
    _ = try state.park(disk.downloaded(size: Int(pack.size)), asDownload: identifier(pack.id, pack.version))
    return try #require(try plan(state, pack).handOver.first)
  }

  @Test("a file that is installed has no record any more, and one that arrives once more meanwhile is not needed")
  func installation() throws {
    let state = try open()
    let file = try waiting(state, offer("a"))
    let path = try #require(try state.path(of: file))
    #expect(disk.bytes(of: path)?.first == 7)
    // The same download, delivered twice: the store finds that the file is another one.
    #expect(try state.park(disk.downloaded(filling: 9), asDownload: identifier("a")) == .moved)
    #expect(disk.bytes(of: path)?.first == 9)
    #expect(try state.finishInstall(file, .installed) == nil)
    #expect(disk.bytes(of: path) == nil)
    #expect(try state.status(of: "a") == nil)
    disk.hold([installed("a")])
    let plan = try plan(state, offer("a"))
    #expect(plan.ready == ["a"] && plan.orphans.isEmpty)
    #expect(disk.tree(below: "/group/incoming").isEmpty && disk.tree(below: "/group/packs").isEmpty)
  }

  @Test("after the file, events of its download are late, whatever the record says")
  func lateEvents() throws {
    let state = try open()
    try state.schedule(offer("a"))
    _ = try state.park(disk.downloaded(), asDownload: identifier("a"))
    #expect(try state.downloadFailed(.download(identifier: identifier("a")), .offline) == .nothing)
    #expect(try state.note(.paused(.user), ofDownload: identifier("a")) == nil)
    #expect(try state.cancel("a") == nil)
    #expect(try state.status(of: "a")?.state == .scheduled)
    #expect(try plan(state, offer("a")).handOver.map(\.id) == ["a"])
  }

  @Test("an installation that is put off keeps the file; one that failed removes it")
  func installationEnds() throws {
    let state = try open()
    let file = try waiting(state, offer("a"))
    #expect(try state.finishInstall(file, .putOff) == nil)
    #expect(try plan(state, offer("a")).handOver == [file])
    #expect(try state.finishInstall(file, .failed(.wrongBytes))?.state == .failed(.wrongBytes))
    #expect(try state.content().files.isEmpty)
    #expect(try plan(state, offer("a")).reason(of: "a") == .failed(.wrongBytes, secondsLeft: 60))
  }

  @Test("bytes that the store rejects are not downloaded again, until it was emptied; the record does not know")
  func rejected() throws {
    let state = try open()
    let file = try waiting(state, offer("a"))
    #expect(try state.finishInstall(file, .failed(.rejected)) == nil)
    #expect(try state.status(of: "a")?.state == .notLoaded(.arrived))
    disk.hold([installed("a", isRejected: true)])
    for event in DeliveryEvent.allCases {
      let facts = DeliveryFacts(event, at: now + 999_999)
      #expect(try plan(state, offer("a"), facts: facts).reason(of: "a") == .failed(.rejected, secondsLeft: nil))
    }
    disk.hold([])
    #expect(try plan(state, offer("a")).downloads.map(\.id) == ["a"])
  }

  @Test("a file whose bytes are no longer wanted is not installed")
  func unwantedFile() throws {
    let state = try open()
    let file = try waiting(state, offer("a"))
    #expect(try state.path(of: file) != nil)
    _ = try plan(state, offer("a", 2))
    #expect(try state.path(of: file) == nil)
    #expect(try state.finishInstall(file, .installed) == nil)
    #expect(try state.status(of: "a")?.bytes.version == 2, "the record is about other bytes")
  }

  @Test("a file that was purged before its installation is downloaded again")
  func purgedFile() throws {
    let state = try open()
    let file = try waiting(state, offer("a"))
    disk.remove("/group/incoming/\(identifier("a"))")
    #expect(try state.path(of: file) == nil)
    #expect(try plan(state, offer("a")).downloads.map(\.id) == ["a"])
  }

  @Test("an app that ended during an installation finds the file again, and one that ended right after it finds the pack")
  func interrupted() throws {
    let state = try open()
    let file = try waiting(state, offer("a"))
    _ = try state.path(of: file)
    #expect(try plan(open(), offer("a")).handOver == [file])
    let facts = DeliveryFacts(.launch, at: now, device: [installed("a")])
    let plan = try plan(open(), offer("a"), facts: facts)
    #expect(plan.ready == ["a"] && plan.orphans == [identifier("a")])
    #expect(try state.status(of: "a") == nil)
  }

  // MARK: The store's records

  @Test("an extension knows from the store's records what is installed, whatever happened to its own")
  func installedPacks() throws {
    let delta = ManifestDelta(bases: [digest("root b", 1)], size: 90, sha256: digest("delta", 2))
    var next = offer("b", 2)
    next.deltas = [delta]
    var release = manifest(offer("A"), next, offer("c", 2, .prefetch, .unpacked), offer("d"))
    release.defaults = ManifestDefaults(baseURL: "https://cdn.example.com/")
    disk.hold([
      installed("A"), DevicePack(id: "b", version: 1, sha256: digest("b", 1), mode: .packed, contentRoot: digest("root b", 1)),
      installed("c"), installed("d"), installed("gone"),
    ])
    disk.write([1, 2, 3], to: "/store/state/d")
    for _ in 0..<2 {
      let plan = try open().plan(for: release, facts: DeliveryFacts(.periodic, at: now)).plan
      #expect(plan.ready == ["A"])
      #expect(plan.downloads.map(\.id) == ["b", "c", "d"] && plan.downloads.map(\.isDelta) == [true, false, false])
      #expect(plan.obsolete.isEmpty, "what is not offered is the app's matter")
      #expect(try open().status(of: "A") == nil)
      // As if the system had emptied the caches.
      disk.remove("/group")
    }
    #expect(try open().park(disk.downloaded(), asDownload: identifier("c", 2)) == .moved)
    let waiting = try open().plan(for: release, facts: DeliveryFacts(.periodic, at: now)).plan
    #expect(waiting.handOver.map(\.mode) == [.packed], "a pack that is installed packed stays packed")
  }

  @Test("an extension does not download again what the app is just moving into its store")
  func takenFile() throws {
    let state = try open()
    let file = try waiting(state, offer("a"))
    disk.hold([])
    disk.write([7], to: "/store/packs/\(identifier("a")).pack")
    disk.remove("/group/incoming/\(identifier("a"))")
    let during = try plan(state, offer("a"))
    #expect(during.downloads.isEmpty && during.handOver == [file])
    disk.hold([installed("a")])
    #expect(try plan(state, offer("a")).ready == ["a"])
  }

  // MARK: Damage

  @Test(
    "a damaged record is reported and recreated from the available information",
    arguments: ["empty", "zeros", "cut", "changed", "other pack", "text", "folder"])
  func damaged(_ kind: String) throws {
    let state = try open()
    func damage() throws {
      let sound = status("a", .scheduled(isEssential: false)).record
      disk.remove("/group/packs/a")
      switch kind {
      case "empty": disk.write([], to: "/group/packs/a")
      case "zeros": disk.write([UInt8](repeating: 0, count: sound.count), to: "/group/packs/a")
      case "cut": disk.write(Array(sound.dropLast(3)), to: "/group/packs/a")
      case "changed":
        var bytes = sound
        bytes[bytes.firstIndex(of: UInt8(ascii: "1"))!] ^= 2
        disk.write(bytes, to: "/group/packs/a")
      case "other pack": disk.write(status("b").record, to: "/group/packs/a")
      case "folder": disk.write([1], to: "/group/packs/a/file")
      default: disk.write(Array("{}\n".utf8) + [UInt8](repeating: 65, count: 5000), to: "/group/packs/a")
      }
    }
    try damage()
    #expect(failure { () throws(PackError) in _ = try state.status(of: "a") }?.code == .damagedState)
    #expect(failure { () throws(PackError) in try state.note(.began, ofDownload: identifier("a")) }?.code == .damagedState)

    let fresh = try state.plan(for: manifest(offer("a")), facts: DeliveryFacts(.periodic, at: now))
    #expect(fresh.rebuilt == ["a"] && fresh.plan.downloads.map(\.id) == ["a"])
    #expect(try state.status(of: "a")?.state == .scheduled)

    try damage()
    let device = try state.plan(for: manifest(offer("a")), facts: DeliveryFacts(.launch, at: now, device: [installed("a")]))
    #expect(device.plan.ready == ["a"] && device.rebuilt == ["a"])

    try damage()
    let system = try state.plan(for: manifest(offer("a")), facts: DeliveryFacts(.launch, at: now, device: [], downloads: [identifier("a")]))
    #expect(system.plan.underWay == ["a"])

    try damage()
    #expect(try state.park(disk.downloaded(), asDownload: identifier("a")) == .moved)
    #expect(try state.plan(for: manifest(offer("a")), facts: DeliveryFacts(.periodic, at: now)).plan.handOver.map(\.id) == ["a"])
  }

  @Test("a damaged record of a pack that needs none is removed")
  func damagedLeftover() throws {
    let state = try open()
    disk.write([1, 2, 3], to: "/group/packs/gone")
    disk.write([1, 2, 3], to: "/group/packs/demand")
    let planned = try state.plan(for: manifest(offer("demand", .onDemand)), facts: DeliveryFacts(.periodic, at: now))
    #expect(planned.rebuilt == ["demand", "gone"])
    #expect(disk.tree(below: "/group/packs").isEmpty)
    #expect(try state.content() == SharedState.Content())
  }

  @Test("a flipped bit anywhere in a record is detected")
  func flippedBits() throws {
    let record = status("a", .asked, .scheduled(isEssential: true), .began).record
    for index in record.indices {
      for bit in 0..<8 {
        var damaged = record
        damaged[index] ^= 1 << bit
        #expect(failure { () throws(PackError) in _ = try PackStatus(reading: damaged, of: "a") }?.code == .damagedState)
      }
    }
  }

  @Test("a record that temporarily cannot be read is not treated as damaged: nothing is recreated")
  func unreadable() throws {
    try open().schedule(offer("a"))
    let files = MemoryFiles(disk, .failing(FileFailure(number: 1)) { $0.operation == "open" && $0.name == "packs/a" })
    let state = try open(files)
    let before = disk.tree()
    #expect(failure { () throws(PackError) in _ = try plan(state, offer("a")) }?.code == .cannotRead)
    #expect(disk.tree() == before)
  }

  @Test("on a full disk a change is refused, and the record stays unchanged")
  func fullDisk() throws {
    try open().schedule(offer("a"))
    let state = try open(MemoryFiles(disk, .failing(.fullDisk) { $0.operation == "write" }))
    #expect(failure { () throws(PackError) in try state.note(.began, ofDownload: identifier("a")) }?.code == .noSpace)
    #expect(try open().status(of: "a")?.state == .scheduled)
    try open().note(.began, ofDownload: identifier("a"))
    #expect(try open().status(of: "a")?.state == .loading)
  }

  // MARK: Crashes

  @Test(
    "a process that ends at any operation of a delivery, also by a power failure, loses no pack",
    arguments: [MemoryDisk.Crash.kill, .powerCut, .zeroedContent, .emptiedContent, .luck(seed: 1), .luck(seed: 2)])
  func crashes(_ crash: MemoryDisk.Crash) throws {
    let packs = [offer("a", .essential), offer("b")]
    /// Runs one delivery from the manifest to the store, which is `device`.
    func deliver(_ disk: MemoryDisk, _ files: MemoryFiles, _ device: inout [DevicePack], time: Int64) throws(PackError) {
      let state = try SharedState.sample(files, TestClock(time))
      let plan = try state.plan(for: manifest(packs), facts: DeliveryFacts(.launch, at: time, device: device, downloads: [])).plan
      for download in plan.downloads {
        let file = disk.downloaded("/system/\(download.identifier)")
        _ = try state.park(file, asDownload: download.identifier.description)
      }
      let next = try state.plan(for: manifest(packs), facts: DeliveryFacts(.launch, at: time, device: device)).plan
      for file in next.handOver {
        guard let path = try state.path(of: file) else { continue }
        guard disk.bytes(of: path) == [UInt8](repeating: 7, count: 1000) else {
          _ = try state.finishInstall(file, .failed(.wrongBytes))
          continue
        }
        // The store moves the file to its own directory.
        disk.remove(path)
        device.append(DevicePack(id: file.id, version: 1, sha256: file.bytes.sha256, mode: file.mode))
        _ = try state.finishInstall(file, .installed)
      }
    }
    var number = 0
    while true {
      let disk = MemoryDisk(number % 2 == 0 ? .linux : .apple)
      var device: [DevicePack] = []
      let files = MemoryFiles(disk, .stopBeforeChange(number))
      let error = failure { () throws(PackError) in try deliver(disk, files, &device, time: now) }
      guard files.struck != nil else {
        #expect(error == nil)
        break
      }
      // Two days and four starts later, everything is on the device.
      let left = disk.after(crash)
      for day in 1...4 { try deliver(left, MemoryFiles(left), &device, time: now + Int64(day) * 172_800) }
      let state = try SharedState.sample(MemoryFiles(left))
      let plan = try state.plan(for: manifest(packs), facts: DeliveryFacts(.launch, at: now, device: device, downloads: [])).plan
      #expect(plan.ready == ["a", "b"], "\(crash) before change \(number)")
      try state.discard(plan.orphans)
      #expect(try state.content().files.isEmpty)
      number += 1
    }
    #expect(number > 40)
  }

  // MARK: Other calls

  @Test("a pack that is no longer offered leaves no record, and its file is reported, but not removed before the app requests it")
  func unlisted() throws {
    let state = try open()
    _ = try waiting(state, offer("a"))
    let plan = try plan(state, offer("b"))
    #expect(plan.obsolete.isEmpty && plan.orphans == [identifier("a")])
    #expect(try state.status(of: "a") == nil)
    #expect(try state.content().files.count == 1)
    #expect(try state.discard(plan.orphans) == 1000)
    #expect(try state.content().files.isEmpty)
  }

  @Test("cancelling returns the identifier of a download in progress, and nil if there is none")
  func cancel() throws {
    let state = try open()
    try state.schedule(offer("a"))
    #expect(try state.cancel("a")?.description == identifier("a"))
    #expect(try state.status(of: "a")?.state == .notLoaded(.cancelled))
    #expect(try state.cancel("a") == nil)
    #expect(try state.cancel("unknown") == nil)
  }

  @Test("a file that is needed is kept, even if an old plan listed it as an orphan")
  func staleOrphan() throws {
    let state = try open()
    let file = disk.downloaded()
    _ = try state.park(file, asDownload: identifier("a"))
    let orphans = try plan(state, offer("b")).orphans
    #expect(orphans == [identifier("a")])
    #expect(try plan(state, offer("a"), offer("b")).handOver.map(\.id) == ["a"])
    #expect(try state.discard(orphans + ["../delivery", "no identifier"]) == 0)
    #expect(try state.content().files.count == 1)
  }

  @Test("the remaining allowance is stored until the app is started for the first time")
  func allowance() throws {
    let full = Allowance(essential: 5000, other: 5000)
    func plan(_ event: DeliveryEvent, _ allowance: Allowance?, _ packs: ManifestPack...) throws -> DeliveryPlan {
      try open().plan(for: manifest(packs), facts: DeliveryFacts(event, at: now, allowance: allowance)).plan
    }
    #expect(try plan(.install, full, offer("a", .essential)).allowance == Allowance(essential: 4000, other: 5000))
    #expect(
      try plan(.update, full, offer("a", .essential), offer("b", size: 4000, .essential)).reason(of: "b")
        == .allowance(size: 4000, left: 4000))
    #expect(try plan(.launch, full, offer("a", .essential), offer("b", size: 4000, .essential)).downloads.map(\.id) == ["b"])
    #expect(disk.bytes(of: "/group/allowance") == nil)
    #expect(try plan(.update, nil, offer("a"), offer("b"), offer("c", size: 99_999)).downloads.map(\.id) == ["b", "c"])
    disk.write([1, 2, 3], to: "/group/allowance")
    #expect(try plan(.install, full, offer("d")).allowance == Allowance(essential: 5000, other: 4000), "a damaged file is ignored")
  }
}
