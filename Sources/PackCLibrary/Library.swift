import Foundation

/// Opens the packs of an app, recovers from its last run, and starts fetching what its manifest requires. Works without a network, too.
///
/// - Parameters:
///   - options: a JSON object with the members `manifest` (the address of the signed manifest, HTTPS), `trusting` (a list of the public keys that may
///     sign it, or one keys document), and `directory` (for this library only; created if it is missing) or, on Apple's systems, `group` (the app
///     group). The rest has usual values: `keychain` (the service with the keys, on Apple's systems, in the place of `ask`), `bundled` (a directory
///     with a release inside the app), `confirmsVersions` (true), `lowestManifestVersion` (0), `refreshInterval` (3600 seconds), `languages` (those of
///     the user), `groups` (of this installation, for rollouts), `seenShare` (from 0 to 1: how many outcomes of versions are told to the server, with
///     `seenRandomised` percent of these at random), `fields` (an object with the header fields of requests), `allowsCellular`, `allowsExpensive`, `allowsConstrained`, `quota` (bytes),
///     `consentAbove` (bytes: larger downloads wait for `packer_library_answer`).
///   - ask: writes the key of a pack, on any thread, each time a pack is opened, also several at a time, and not after the library was closed. It may
///     take its time. NULL with `keychain`.
///   - askContext: its first argument.
///   - event: called with a JSON object when something changes, on any thread, one call at a time, perhaps before this function has returned, and not
///     after the library was closed. It should return soon, and may be NULL without `consentAbove`. `event` in it is `status` (with `pack`, and `state` as `packer_library_copy_status` returns it), `list` (other packs are offered),
///     `progress` (of `request`, the text of a handle, with `fraction`), `consent` (with `question`, `packs` and their `size`), or `lowSpace` (with
///     `packs`, and the `size` that is missing).
///   - eventContext: its first argument.
///   - library: receives the handle, for `packer_close`.
@c(packer_library_open)
public func openLibrary(
  _ options: UnsafePointer<CChar>?, _ ask: AskFunction?, _ askContext: UnsafeMutableRawPointer?, _ event: EventFunction?,
  _ eventContext: UnsafeMutableRawPointer?, _ library: UnsafeMutablePointer<UInt64>?
) -> PackerStatus {
  call { () throws(PackError) in
    let place = try unsafe place(library, "library")
    let options = try LibraryOptions(try unsafe text(options, "options"))
    let events = unsafe Events(event == nil ? nil : try Callback(event, eventContext, "event"))
    let handle: LibraryHandle
    if let service = options.keychain {
      #if canImport(Security)
        handle = try waiting { () async throws(PackError) in
          try await LibraryHandle(options, keys: .keychain(service), events: events)
        }
      #else
        throw PackError(.unsupported, "there is no keychain on this system: '\(service)'")
      #endif
    } else {
      let keys = GatedKeys(keys: try unsafe AskedKeys(Callback(ask, askContext, "ask")), gate: events.gate)
      handle = try waiting { () async throws(PackError) in try await LibraryHandle(options, keys: keys, events: events) }
    }
    unsafe place.pointee = Handles.all.add(handle)
  }
}

/// Makes packs usable: downloads, verifies and installs what is missing, and activates the newest installed versions. Goes on after the call, and survives
/// failures of the network.
///
/// - Parameters:
///   - packs: the names of packs.
///   - count: how many there are.
///   - request: receives the handle, for `packer_wait` and `packer_close`. Closing it ends the waiting and leaves the downloads running.
@c(packer_library_ensure)
public func ensure(
  _ library: UInt64, _ packs: UnsafePointer<UnsafePointer<CChar>?>?, _ count: UInt64, _ request: UnsafeMutablePointer<UInt64>?
) -> PackerStatus {
  call { () throws(PackError) in
    let place = try unsafe place(request, "request")
    let packs = try unsafe texts(packs, count, "packs", name)
    unsafe place.pointee = try LibraryHandle.of(library).begin { (_, library) async throws(PackError) in
      try await library.ensure(packs)
      return nil
    }
  }
}

/// Makes a pack readable as soon as what its launch reads is here, and goes on downloading it; without a lead, when it is here as a whole. Calls that read
/// what has not arrived wait for it.
///
/// - Parameters:
///   - pack: the name of the pack.
///   - request: receives the handle, for `packer_wait` and `packer_close`. Closing it ends the waiting and leaves the download running.
@c(packer_library_play)
public func play(_ library: UInt64, _ pack: UnsafePointer<CChar>?, _ request: UnsafeMutablePointer<UInt64>?) -> PackerStatus {
  call { () throws(PackError) in
    let place = try unsafe place(request, "request")
    let pack = try unsafe name(pack)
    unsafe place.pointee = try LibraryHandle.of(library).begin { (_, library) async throws(PackError) in
      try await library.play(pack)
      return nil
    }
  }
}

/// Makes all packs usable that have any of some tags, and keeps them until the request is closed, as NSBundleResourceRequest does.
///
/// - Parameters:
///   - tags: the tags.
///   - count: how many there are.
///   - priority: the priority of the downloads, from 0 to 1.
///   - request: receives the handle, for `packer_wait` and `packer_close`. Its progress is among the events.
@c(packer_library_ensure_tags)
public func ensureTags(
  _ library: UInt64, _ tags: UnsafePointer<UnsafePointer<CChar>?>?, _ count: UInt64, _ priority: Double,
  _ request: UnsafeMutablePointer<UInt64>?
) -> PackerStatus {
  call { () throws(PackError) in
    let place = try unsafe place(request, "request")
    let tags = Set(try unsafe texts(tags, count, "tags") { (tag) throws(PackError) in try unsafe text(tag, "tags") })
    let handle = try LibraryHandle.of(library)
    unsafe place.pointee = handle.begin { (number, library) async throws(PackError) in
      let request = TagRequest(tags, of: library, priority: priority, waitsForNetwork: true)
      let telling = handle.tellProgress(of: number, request.progressUpdates())
      let access = try await request.begin()
      // The last progress is told before the end.
      await telling.value
      return access
    }
  }
}

/// Fetches the manifest, accepts it if it is newer, and starts the downloads that it requires.
///
/// - Parameter request: receives the handle, for `packer_wait` and `packer_close`.
@c(packer_library_refresh)
public func refresh(_ library: UInt64, _ request: UnsafeMutablePointer<UInt64>?) -> PackerStatus {
  call { () throws(PackError) in
    let place = try unsafe place(request, "request")
    unsafe place.pointee = try LibraryHandle.of(library).begin { (_, library) async throws(PackError) in
      try await library.refresh()
      return nil
    }
  }
}

/// Waits for the end of a request, and returns how it ended: 75 if it did not.
///
/// - Parameter milliseconds: how long to wait at most: 0 not at all, for a loop that draws pictures, and below 0 for ever.
@c(packer_wait)
public func wait(_ request: UInt64, _ milliseconds: Int64) -> PackerStatus {
  callForEnd { () throws(PackError) in try RequestHandle.of(request).wait(milliseconds) }
}

/// Answers a question of an event. A download that is refused counts as cancelled.
///
/// - Parameter yes: not 0 if the downloads may begin.
@c(packer_library_answer)
public func answer(_ library: UInt64, _ question: UInt64, _ yes: Int32) -> PackerStatus {
  call { () throws(PackError) in try LibraryHandle.of(library).answer(question, yes != 0) }
}

/// Cancels the download of a pack. It is not downloaded again until it is asked for.
@c(packer_library_cancel)
public func cancel(_ library: UInt64, _ pack: UnsafePointer<CChar>?) -> PackerStatus {
  unsafe withPack(library, pack) { (library, pack) async throws(PackError) in try await library.cancel(pack) }
}

/// Removes a pack from the device. A handle of it must be closed before.
@c(packer_library_remove)
public func remove(_ library: UInt64, _ pack: UnsafePointer<CChar>?) -> PackerStatus {
  unsafe withPack(library, pack) { (library, pack) async throws(PackError) in try await library.remove(pack) }
}

/// Confirms that the version of a pack works, if `confirmsVersions` is false.
@c(packer_library_confirm)
public func confirm(_ library: UInt64, _ pack: UnsafePointer<CChar>?) -> PackerStatus {
  unsafe withPack(library, pack) { (library, pack) async throws(PackError) in try await library.confirm(pack) }
}

/// Rolls a pack back to the version before, because the current one does not work. It is not installed again.
///
/// - Parameter reason: a text for reports.
@c(packer_library_reject)
public func reject(_ library: UInt64, _ pack: UnsafePointer<CChar>?, _ reason: UnsafePointer<CChar>?) -> PackerStatus {
  call { () throws(PackError) in
    let (library, pack) = (try LibraryHandle.of(library).library, try unsafe name(pack))
    let reason = try unsafe text(reason, "reason")
    try waiting { () async throws(PackError) in _ = try await library.reject(pack, reason: reason) }
  }
}

/// Changes the languages of the user: BCP 47 tags, the preferred one first.
@c(packer_library_set_languages)
public func setLanguages(_ library: UInt64, _ languages: UnsafePointer<UnsafePointer<CChar>?>?, _ count: UInt64) -> PackerStatus {
  call { () throws(PackError) in
    let library = try LibraryHandle.of(library).library
    let languages = try unsafe texts(languages, count, "languages") { (tag) throws(PackError) in try unsafe text(tag, "languages") }
    try waiting { () async throws(PackError) in try await library.setLanguages(languages) }
  }
}

/// Does what is to do after the app was suspended. On Apple's systems this happens by itself.
@c(packer_library_resume)
public func resume(_ library: UInt64) -> PackerStatus {
  call { () throws(PackError) in
    let library = try LibraryHandle.of(library).library
    try waiting { () async throws(PackError) in await library.resume() }
  }
}

/// Returns the packs that are offered for this device, with their states, as JSON. `packer_free` frees it.
@c(packer_library_copy_offers)
public func copyOffers(_ library: UInt64, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> PackerStatus {
  unsafe withCopy(library, json) { (library) async throws(PackError) in
    try LibraryText.json(LibraryText.Offers(await library.offers()))
  }
}

/// Returns the tags with their packs as JSON, as far as the catalogue is on the device. `packer_free` frees it.
@c(packer_library_copy_tags)
public func copyTags(_ library: UInt64, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> PackerStatus {
  unsafe withCopy(library, json) { (library) async throws(PackError) in
    let catalog = try await library.tags()
    return try LibraryText.json(
      catalog.tags.map { tag in
        LibraryText.Tag(tag: tag, delivery: catalog.delivery(of: tag)?.rawValue, packs: catalog.packs(of: [tag]).map(\.id))
      })
  }
}

/// Returns the state of a pack as JSON: `status` is `absent`, `waiting` (with `reason`), `downloading` (with `received` and `size`), `installing`, `ready`
/// (with `version`, and `update` if there is a newer one), or `failed` (with `code`, `message` and `advice`). `packer_free` frees it.
@c(packer_library_copy_status)
public func copyStatus(
  _ library: UInt64, _ pack: UnsafePointer<CChar>?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> PackerStatus {
  unsafe withCopy(library, pack, json) { (library, pack) async throws(PackError) in
    try LibraryText.json(LibraryText.Status(await library.currentStatus(of: pack)))
  }
}

/// Returns the path of a file on the disk with the content of a file, for what reads nothing else. Of a pack that is kept encrypted, this writes it in the
/// clear; it is removed when the next process opens a library. `packer_free` frees the path.
@c(packer_library_copy_file)
public func copyFile(
  _ library: UInt64, _ pack: UnsafePointer<CChar>?, _ path: UnsafePointer<CChar>?,
  _ file: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> PackerStatus {
  call { () throws(PackError) in
    let place = try unsafe place(file, "file")
    let (library, pack) = (try LibraryHandle.of(library).library, try unsafe name(pack))
    let path = try unsafe text(path, "path")
    unsafe place.pointee = copied(try waiting { () async throws(PackError) in try await library.file(pack, path).path })
  }
}

/// Returns the directory of a pack that is kept unpacked. `packer_free` frees it.
@c(packer_library_copy_directory)
public func copyDirectory(
  _ library: UInt64, _ pack: UnsafePointer<CChar>?, _ directory: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> PackerStatus {
  unsafe withCopy(library, pack, directory) { (library, pack) async throws(PackError) in try library.directory(pack).path }
}

/// Returns a handle of a pack that was made usable, for the functions that read packs and for `packer_close`. Its version stays on the device as long.
@c(packer_library_pack)
public func packOfLibrary(_ library: UInt64, _ pack: UnsafePointer<CChar>?, _ handle: UnsafeMutablePointer<UInt64>?) -> PackerStatus {
  call { () throws(PackError) in
    let place = try unsafe place(handle, "handle")
    let opened = try LibraryHandle.of(library).library.opened(try unsafe name(pack))
    guard let pack = opened.pack else {
      throw PackError(
        .usage, "pack '\(opened.installed.id)' is kept unpacked", advice: .developer("read its files in packer_library_copy_directory"))
    }
    unsafe place.pointee = Handles.all.add(PackHandle(pack, owner: opened))
  }
}

// MARK: What the functions share

/// Returns the name of a pack that C gave.
///
/// - Throws: ``PackError/Code/usage`` if it is none, which could lead to another record.
private func name(_ pack: UnsafePointer<CChar>?) throws(PackError) -> String { try PackName(try unsafe text(pack, "pack")).text }

private func withPack(
  _ library: UInt64, _ pack: UnsafePointer<CChar>?, _ work: @escaping @Sendable (PackLibrary, String) async throws(PackError) -> Void
) -> PackerStatus {
  call { () throws(PackError) in
    let (library, pack) = (try LibraryHandle.of(library).library, try unsafe name(pack))
    try waiting { () async throws(PackError) in try await work(library, pack) }
  }
}

private func withCopy(
  _ library: UInt64, _ copy: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ work: @escaping @Sendable (PackLibrary) async throws(PackError) -> String
) -> PackerStatus {
  call { () throws(PackError) in
    let place = try unsafe place(copy, "json")
    let library = try LibraryHandle.of(library).library
    unsafe place.pointee = copied(try waiting { () async throws(PackError) in try await work(library) })
  }
}

private func withCopy(
  _ library: UInt64, _ pack: UnsafePointer<CChar>?, _ copy: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?,
  _ work: @escaping @Sendable (PackLibrary, String) async throws(PackError) -> String
) -> PackerStatus {
  call { () throws(PackError) in
    let pack = try unsafe name(pack)
    let place = try unsafe place(copy, "json")
    let library = try LibraryHandle.of(library).library
    unsafe place.pointee = copied(try waiting { () async throws(PackError) in try await work(library, pack) })
  }
}

private func texts(
  _ start: UnsafePointer<UnsafePointer<CChar>?>?, _ count: UInt64, _ name: String,
  _ read: (UnsafePointer<CChar>?) throws(PackError) -> String
) throws(PackError) -> [String] {
  if count == 0 { return [] }
  let start = try unsafe place(UnsafeMutablePointer(mutating: start), name)
  guard count <= 1 << 20 else { throw PackError(.usage, "\(count) \(name) are too many") }
  var texts: [String] = []
  for index in 0..<Int(count) { texts.append(try unsafe read(start[index])) }
  return texts
}
