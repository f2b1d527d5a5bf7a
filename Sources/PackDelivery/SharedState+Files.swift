extension SharedState {
  /// The result of taking a file that the system downloaded.
  public enum Parking: Hashable, Sendable {
    /// The file is in the shared directory and waits to be installed.
    case moved
    /// The file is not needed: it is another version, or the pack is already on the device. The file was not moved.
    case notNeeded
    /// The size differs from the manifest. The file was not moved, and the download is treated as failed.
    case wrongSize(FailureRemedy)
  }

  /// Moves a file that the system downloaded into the shared directory, by a single rename. It is never copied, no lock is taken, and nothing is written.
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
    let root = try directory.open()
    // A record that cannot be read is ignored: the next plan recreates it from this file.
    let record = try? directory.record(download.id, in: root)
    if let record, record.identifier == download {
      guard size == record.file.size else { return .wrongSize(try downloadFailed(.download(identifier: identifier), .wrongSize)) }
    } else {
      // What is on the device was offered before, too.
      let installed = try storeRecords()?.versions(of: download.id).map(\.version) ?? []
      if ([record?.bytes.version].compactMap(\.self) + installed).contains(where: { $0 >= download.version }) { return .notNeeded }
    }
    try directory.moveIn(file, as: download, in: root)
    try root.settle()
    return .moved
  }

  // MARK: Installing

  /// Returns the path of a file that a plan hands over. Nil if it is gone, or its bytes are no longer wanted; make a new plan then.
  ///
  /// Nothing is recorded: if the process ends, the file waits as before. The store notices if it is replaced while it is installed.
  public func path(of file: HandOver) throws(PackError) -> String? {
    let root = try directory.open()
    guard let record = try directory.record(file.id, in: root), record.file == file.bytes, try directory.hasFile(of: record, in: root)
    else {
      return nil
    }
    return directory.path(StateDirectory.place(file.identifier))
  }

  /// Returns the path of the file of a lead.
  package func path(of lead: DeliveryPlan.ArrivedLead) throws(PackError) -> String {
    _ = try directory.open()
    return directory.path(StateDirectory.place(lead.file))
  }

  /// The result of an installation.
  public enum InstallOutcome: Hashable, Sendable {
    /// The pack is installed in the store.
    case installed
    /// The file could not be installed now, but nothing is wrong with it: no space, no key, or a busy store. The file is kept.
    case putOff
    /// The file is unusable and is removed.
    case failed(FailureReason)
  }

  /// Records the result of an installation, and removes the file unless it is kept. The record of a pack that is installed is removed, too.
  ///
  /// - Returns: the new record if the file failed; nil if another process changed it meanwhile, which is harmless.
  @discardableResult
  public func finishInstall(_ file: HandOver, _ end: InstallOutcome) throws(PackError) -> PackStatus? {
    if end == .putOff { return nil }
    return try directory.withLock { (root) throws(PackError) in
      var next: PackStatus?
      if let record = try directory.record(file.id, in: root), record.file == file.bytes {
        // The store remembers which bytes it rejects.
        if case .failed(let reason) = end, reason != .rejected { next = after(.installFailed(reason), record) }
        if end == .installed || next != nil { try directory.write(next, of: file.id, in: root) }
      }
      // The record first: if a file is left behind, the next plan finds and reports it.
      try root.remove(StateDirectory.place(file.identifier))
      return next
    }
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
        let name = StateDirectory.place(identifier)
        guard let size = try directory.status(name, in: root)?.size else { return }
        if let record = try? directory.record(identifier.id, in: root), record.identifier == identifier, record.file.size == size { return }
        if try root.remove(name) { freed += size }
      }
    }
    return freed
  }
}
