import PackFiles
public import PackFormat
public import PackManifest

extension SharedState {
  /// What became of a file that the system downloaded.
  public enum Parking: Hashable, Sendable {
    /// It lies in the shared directory and waits to be installed.
    case recorded(PackStatus)
    /// It lies in the shared directory, and the record could not be changed in time or is not known: the next plan finds it.
    case unrecorded
    /// Nobody waits for it: it is another version, or the pack is here already. It was left where it was.
    case notNeeded
    /// Its size is not the manifest's. It was left where it was, and is dealt with as a failed download.
    case wrongSize(FailureRemedy)
  }

  /// Takes a file that the system downloaded: moves it into the shared directory, by one rename and never by copying, and records it.
  ///
  /// All that an extension has to do with a finished download; call it before its callback returns. What lies under the same name, an earlier download
  /// of the same bytes, is replaced. Nothing is read of the file: what it holds, the app checks when it installs it.
  ///
  /// - Parameters:
  ///   - file: its path, on the volume of the shared directory.
  ///   - identifier: the download it came by.
  /// - Throws: ``PackFormat/PackError/Code/usage`` for a download that is none of ours, or what the disk says; the file stays where it is then.
  public func park(_ file: String, asDownload identifier: String) throws(PackError) -> Parking {
    guard let download = DownloadIdentifier(identifier) else {
      throw PackError(.usage, "'\(identifier)' is not the identifier of a pack's download")
    }
    let root = try directory.open()
    let size: UInt64
    do throws(FileFailure) {
      let status = try directory.files.status(of: file, in: nil, following: .asThemselves)
      guard status.kind == .file else { throw FileFailure.isDirectory }
      size = status.size
    } catch {
      throw error.reading(file)
    }
    // A record that cannot be read stands in nobody's way: the next plan makes it anew, from this file too.
    let record = try? directory.record(download.id, in: root)
    if let record, record.identifier == download {
      guard record.state != .ready else { return .notNeeded }
      guard size == record.bytes.size else {
        return .wrongSize(try downloadFailed(.download(identifier: identifier), .wrongSize))
      }
    } else if let record, record.bytes.version >= download.version {
      return .notNeeded
    }
    try directory.moveIn(file, as: Self.place(download, in: .incoming), in: root)
    guard record?.identifier == download else { return .unrecorded }
    do throws(PackError) {
      guard let now = try change(download.id, { $0.identifier == download ? .arrived : nil }) else { return .unrecorded }
      return .recorded(now)
    } catch {
      // The file is here, and that is what counts.
      return .unrecorded
    }
  }

  private static func place(_ identifier: DownloadIdentifier, in folder: StateDirectory.Folder) -> String {
    "\(folder.rawValue)/\(identifier)"
  }

  // MARK: Installing

  /// Takes a file to install it. Only the app does so.
  ///
  /// - Returns: the path of the file, which is the caller's until ``finishInstall(_:_:)``; nil where it is not there any more, and the next plan knows more.
  public func beginInstall(_ file: HandOver) throws(PackError) -> String? {
    let identifier = DownloadIdentifier(id: file.id, bytes: file.bytes)
    let (incoming, installing) = (Self.place(identifier, in: .incoming), Self.place(identifier, in: .installing))
    return try directory.withLock { (root) throws(PackError) in
      guard let record = try directory.record(file.id, in: root), record.bytes == file.bytes,
        case .became(let next) = outcome(.installBegan, of: record)
      else { return nil }
      // Out of the way of another download of the same bytes, which would replace what is being checked.
      _ = try directory.move(incoming, to: installing, in: root)
      guard try directory.status(installing, in: root) != nil else {
        if case .became(let next) = outcome(.purged, of: record) { try directory.write(next, of: file.id, in: root) }
        return nil
      }
      try directory.write(next, of: file.id, in: root)
      return directory.path(installing)
    }
  }

  /// How an installation ended.
  public enum InstallOutcome: Hashable, Sendable {
    /// The store has it.
    case installed(InstallMode)
    /// It could not be done now, and nothing is wrong with the file: no room, no key, the store is busy. The file waits on.
    case putOff
    /// The file is of no use, and goes.
    case failed(FailureReason)
  }

  /// Records how an installation ended.
  ///
  /// - Returns: the record as it is now; nil where somebody else changed it meanwhile, which is harmless.
  @discardableResult
  public func finishInstall(_ file: HandOver, _ end: InstallOutcome) throws(PackError) -> PackStatus? {
    let identifier = DownloadIdentifier(id: file.id, bytes: file.bytes)
    let (incoming, installing) = (Self.place(identifier, in: .incoming), Self.place(identifier, in: .installing))
    return try directory.withLock { (root) throws(PackError) in
      let event: PackEvent
      switch end {
      case .installed(let mode): event = .installed(mode)
      case .failed(let reason): event = .installFailed(reason)
      case .putOff:
        event = .installPutOff
        _ = try directory.move(installing, to: incoming, in: root)
      }
      var after: PackStatus?
      if let record = try directory.record(file.id, in: root), record.bytes == file.bytes,
        case .became(let next) = outcome(event, of: record)
      {
        try directory.write(next, of: file.id, in: root)
        after = next
      }
      // The record first: a file that stays behind is found and told.
      if end != .putOff { try directory.remove(installing, in: root) }
      return after
    }
  }

  /// Takes up what an app left that died in the middle of an installation. To be called at each start of the app, before anything is installed.
  ///
  /// - Returns: the names of the packs whose installation was interrupted.
  @discardableResult
  public func recover() throws(PackError) -> [String] {
    let root = try directory.open()
    for name in try directory.names(in: .installing, of: root) {
      try directory.withLock { (root) throws(PackError) in
        guard let identifier = DownloadIdentifier(name) else { return }
        _ = try directory.move(Self.place(identifier, in: .installing), to: Self.place(identifier, in: .incoming), in: root)
      }
    }
    var interrupted: [String] = []
    for record in try content().records where record.state == .installing {
      if try change(record.id, { $0.state == .installing ? .interrupted : nil }) != nil { interrupted.append(record.id) }
    }
    return interrupted
  }

  /// Removes files of which a plan says that nobody has any use (``DeliveryPlan/orphans``). One that became of use meanwhile stays.
  ///
  /// - Returns: the bytes that became free.
  @discardableResult
  public func discard(_ orphans: [String]) throws(PackError) -> UInt64 {
    var freed: UInt64 = 0
    for orphan in orphans {
      guard let identifier = DownloadIdentifier(orphan) else { continue }
      try directory.withLock { (root) throws(PackError) in
        let name = Self.place(identifier, in: .incoming)
        guard let size = try directory.status(name, in: root)?.size else { return }
        if let record = try? directory.record(identifier.id, in: root), record.identifier == identifier,
          record.state == .toBeTransferred, record.bytes.size == size
        {
          return
        }
        if try directory.remove(name, in: root) { freed += size }
      }
    }
    return freed
  }

  /// Forgets a pack that is obsolete, and removes its files from the shared directory. What is installed of it, only the store removes.
  ///
  /// - Returns: whether it was obsolete and is forgotten.
  @discardableResult
  public func forget(_ id: String) throws(PackError) -> Bool {
    let root = try directory.open()
    let names = try directory.names(in: .incoming, of: root).filter { DownloadIdentifier($0)?.id == id }
    return try directory.withLock { (root) throws(PackError) in
      guard let record = try directory.record(id, in: root), outcome(.removed, of: record) == .forgotten else { return false }
      for name in names { try directory.remove("\(StateDirectory.Folder.incoming.rawValue)/\(name)", in: root) }
      try directory.write(nil, of: id, in: root)
      return true
    }
  }
}
