extension SharedState {
  /// The result of taking a file that the system downloaded.
  public enum Parking: Hashable, Sendable {
    /// The file is in the shared directory and waits to be installed.
    case recorded(PackStatus)
    /// The file is in the shared directory, but the record could not be changed in time or could not be read. The next plan finds the file.
    case unrecorded
    /// The file is not needed: it is another version, or the pack is already on the device. The file was not moved.
    case notNeeded
    /// The size differs from the manifest. The file was not moved, and the download is treated as failed.
    case wrongSize(FailureRemedy)
  }

  /// Moves a file that the system downloaded into the shared directory and records it. The file is moved by a single rename and never copied.
  ///
  /// This is all that an extension has to do with a finished download. Call it before the system's callback returns. A file with the same name, from
  /// an earlier download of the same bytes, is replaced. The content is not read: the app checks it during installation.
  ///
  /// - Parameters:
  ///   - file: the path of the file, on the same volume as the shared directory.
  ///   - identifier: the identifier of the download.
  /// - Throws: ``PackFormat/PackError/Code/usage`` if the identifier is not one of a pack's download, or an error of the file system; the file then
  ///   stays where it is.
  public func park(_ file: String, asDownload identifier: String) throws(PackError) -> Parking {
    guard let download = DownloadIdentifier(identifier) else {
      throw PackError(.usage, "'\(identifier)' is not the identifier of a pack's download")
    }
    let size = try directory.sizeOfFile(file)
    do throws(PackError) {
      return try directory.withLock { (root) throws(PackError) in try park(file, download, size, in: root) }
    } catch {
      guard error.code == .stateBusy else { throw error }
      // The system would remove the file. The next plan finds it.
      let root = try directory.open()
      try directory.moveIn(file, as: download, in: root)
      try root.settle()
      return .unrecorded
    }
  }

  private func park(
    _ file: String, _ download: DownloadIdentifier, _ size: UInt64, in root: RecordDirectory
  ) throws(PackError) -> Parking {
    // A record that cannot be read is ignored: the next plan recreates it from this file.
    let record = try? directory.record(download.id, in: root)
    guard let record, record.identifier == download else {
      if let record, record.bytes.version >= download.version { return .notNeeded }
      try directory.moveIn(file, as: download, in: root)
      return .unrecorded
    }
    // One that is being installed is not replaced while it is read.
    guard record.state != .ready, record.state != .installing else { return .notNeeded }
    guard size == record.file.size else {
      let event = record.event(for: .wrongSize)
      guard case .became(let next) = outcome(event, of: record) else { return .wrongSize(.nothing) }
      if next != record { try directory.write(next, of: download.id, in: root) }
      return .wrongSize(event == .demoted ? .handOverAsNonEssential : .planAgain(next))
    }
    try directory.moveIn(file, as: download, in: root)
    guard case .became(let next) = outcome(.arrived, of: record) else { return .unrecorded }
    do throws(PackError) {
      if next != record { try directory.write(next, of: download.id, in: root) }
    } catch {
      return .unrecorded
    }
    return .recorded(next)
  }

  static func place(_ identifier: DownloadIdentifier) -> String { "\(StateDirectory.Folder.incoming.rawValue)/\(identifier)" }

  // MARK: Installing

  /// Takes a file for installation. Only the app calls this.
  ///
  /// - Returns: the path of the file, which belongs to the caller until ``finishInstall(_:_:)``. Nil if the file is gone; make a new plan then.
  public func beginInstall(_ file: HandOver) throws(PackError) -> String? {
    try directory.withLock { (root) throws(PackError) in
      guard let record = try directory.record(file.id, in: root), record.file == file.bytes,
        case .became(let next) = outcome(.installBegan, of: record)
      else { return nil }
      let place = Self.place(file.identifier)
      guard try directory.status(place, in: root) != nil else {
        if case .became(let next) = outcome(.purged, of: record) { try directory.write(next, of: file.id, in: root) }
        return nil
      }
      try directory.write(next, of: file.id, in: root)
      return directory.path(place)
    }
  }

  /// The result of an installation.
  public enum InstallOutcome: Hashable, Sendable {
    /// The pack is installed in the store.
    case installed(InstallMode)
    /// The file could not be installed now, but nothing is wrong with it: no space, no key, or a busy store. The file is kept.
    case putOff
    /// The file is unusable and is removed.
    case failed(FailureReason)
  }

  /// Records the result of an installation.
  ///
  /// - Returns: the new record; nil if another process changed it meanwhile, which is harmless.
  @discardableResult
  public func finishInstall(_ file: HandOver, _ end: InstallOutcome) throws(PackError) -> PackStatus? {
    try directory.withLock { (root) throws(PackError) in
      let event: PackEvent
      switch end {
      case .installed(let mode): event = .installed(mode)
      case .failed(let reason): event = .installFailed(reason)
      case .putOff: event = .installPutOff
      }
      var after: PackStatus?
      if let record = try directory.record(file.id, in: root), record.file == file.bytes,
        case .became(let next) = outcome(event, of: record)
      {
        try directory.write(next, of: file.id, in: root)
        after = next
      }
      // The record first: if a file is left behind, the next plan finds and reports it.
      if end != .putOff { try root.remove(Self.place(file.identifier)) }
      return after
    }
  }

  /// Recovers installations that were interrupted because the app ended. Call it at each start of the app, before anything is installed.
  ///
  /// - Returns: the names of the packs whose installation was interrupted.
  @discardableResult
  public func recover() throws(PackError) -> [String] {
    var interrupted: [String] = []
    for record in try content().records where record.state == .installing {
      if try change(record.id, { $0.state == .installing ? .interrupted : nil }) != nil { interrupted.append(record.id) }
    }
    return interrupted
  }

  /// Removes files that a plan lists as no longer needed (``DeliveryPlan/orphans``). A file that is needed again is kept.
  ///
  /// - Returns: the number of bytes freed.
  @discardableResult
  public func discard(_ orphans: [String]) throws(PackError) -> UInt64 {
    var freed: UInt64 = 0
    for orphan in orphans {
      guard let identifier = DownloadIdentifier(orphan) else { continue }
      try directory.withLock { (root) throws(PackError) in
        let name = Self.place(identifier)
        guard let size = try directory.status(name, in: root)?.size else { return }
        if let record = try? directory.record(identifier.id, in: root), record.identifier == identifier,
          record.state == .toBeTransferred || record.state == .installing, record.file.size == size
        {
          return
        }
        if try root.remove(name) { freed += size }
      }
    }
    return freed
  }

  /// Removes the record of an obsolete pack and its files in the shared directory. Installed versions are removed only by the store.
  ///
  /// - Returns: whether the pack was obsolete and its record was removed.
  @discardableResult
  public func forget(_ id: String) throws(PackError) -> Bool {
    let root = try directory.open()
    let names = try directory.names(in: .incoming, of: root).filter { DownloadIdentifier($0)?.id == id }
    return try directory.withLock { (root) throws(PackError) in
      guard let record = try directory.record(id, in: root), outcome(.removed, of: record) == .forgotten else { return false }
      for name in names { try root.remove("\(StateDirectory.Folder.incoming.rawValue)/\(name)") }
      try directory.write(nil, of: id, in: root)
      return true
    }
  }
}
