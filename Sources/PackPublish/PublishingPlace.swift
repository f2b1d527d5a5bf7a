/// A place from which devices fetch a release.
package protocol PublishingPlace: StoragePlace {
  /// Returns the names and sizes in bytes of the files there, without those in folders. A place that does not exist yet has none.
  func sizes() throws(PackError) -> [String: UInt64]

  /// Returns the bytes of a file; nil if it does not exist.
  func contents(of name: String, limit: Int) throws(PackError) -> [UInt8]?

  /// Throws ``PackError/Code/noSpace`` if the place is known to have less room than `size` bytes.
  func checkRoom(for size: UInt64) throws(PackError)

  /// Copies one file to the place under a name of its own, which caches may keep for ever.
  func add(_ path: String, as name: String) throws(PackError)

  /// Whether it computes digests of its files, so that comparing them needs no download.
  func hasDigests() throws(PackError) -> Bool

  /// Compares files there with those in a directory, by digests that the place computes, or by their bytes.
  ///
  /// - Parameter directory: has the files of the release, which were compared with their digests.
  /// - Returns: those that are others, or that are not there.
  func different(_ files: [ReleaseFiles.File], from directory: String) throws(PackError) -> [ReleaseFiles.File]

  /// Replaces the manifest, which caches may keep for a minute.
  ///
  /// - Parameters:
  ///   - path: the new one.
  ///   - known: the bytes of the one that was there; nil if there was none.
  /// - Throws: ``PackError/Code/releaseConflict`` if it is another one now.
  func replaceManifest(with path: String, known: [UInt8]?) throws(PackError)

  /// Removes files. Those that are not there are no error.
  func remove(_ names: [String]) throws(PackError)

  /// Whether other users of this machine, such as a web server, cannot read what is there.
  var isPrivate: Bool { get }

  /// Runs work during which no other process of packer changes the manifest or removes files, if the place has locks.
  func exclusively<Result>(_ work: () throws(PackError) -> Result) throws(PackError) -> Result
}

extension PublishingPlace {
  /// Copies files from the place into a directory, over files of the same names.
  ///
  /// - Parameter wanted: names, each with the largest size in bytes that it may have.
  /// - Throws: if any of them was not copied.
  package func fetch(_ wanted: [(name: String, limit: UInt64)], to directory: String) throws(PackError) {
    let brought = try bring(wanted, to: directory)
    if let failure = brought.failures.first { throw failure }
    if let (name, limit) = wanted.first(where: { brought.larger.contains($0.name) }) {
      throw PackError(.wrongPack, of: "\(title): \(name)", "has more than \(limit) bytes")
    }
    for (name, _) in wanted where !ReleasePlaces.exists(ReleaseFolder.path(name, in: directory)) {
      throw PackError(.missingInput, of: title, "has no file \(name)")
    }
  }

  package func checkRoom(for size: UInt64) throws(PackError) {}

  package var isPrivate: Bool { false }

  package func exclusively<Result>(_ work: () throws(PackError) -> Result) throws(PackError) -> Result { try work() }

  func conflict(_ what: String) -> PackError {
    PackError(
      .releaseConflict, of: title, what, hint: "see that one pipeline publishes at a time, then: packer publish --dry-run")
  }
}

/// The forms in which a place is named.
package enum PlaceName {
  /// Returns a place: a folder, a remote of rclone, or a command, whose title is its program only.
  ///
  /// - Parameters:
  ///   - showsProgress: whether a program that uploads prints how far it is, on standard error.
  ///   - isPatient: whether a remote is tried for minutes.
  /// - Throws: ``PackError/Code/usage``.
  package static func place(_ text: String, showsProgress: Bool = false, isPatient: Bool = true) throws(PackError) -> any PublishingPlace {
    if text.hasPrefix(command) {
      let words = try CommandWords.split(String(text.dropFirst(command.count)))
      return CommandPlace(title: command + words[0], words)
    }
    guard !text.isEmpty else {
      throw PackError(.usage, "the place has no name", hint: "name a directory, or a remote as games:bucket/packs")
    }
    guard !PackerConfiguration.isDirectory(text) else { return FolderPlace(text) }
    guard text.hasPrefix(":") || !text.prefix(while: { $0 != "/" }).hasSuffix(":") || !text.contains("://") else {
      // Not printed: it may have a password.
      throw PackError(.usage, "the place is an address, and not a remote of rclone", hint: "name a remote, as in games:bucket/packs")
    }
    if let name = secret(in: text) {
      throw PackError(
        .usage, "the place has '\(printable(name.utf8))' in its text, which may be a secret, and which others on this machine can see",
        hint: "put it into the configuration of rclone, or into a variable such as RCLONE_CONFIG_GAMES_\(printable(name.utf8).uppercased())"
      )
    }
    return RclonePlace(text, showsProgress: showsProgress, isPatient: isPatient)
  }

  private static let command = "cmd:"

  /// The parameters of rclone whose values are no secrets, besides those that name files and programs, or are true or false. Which others are, not
  /// even rclone says of all.
  private static let harmless = Set(
    """
    access_key_id access_tier account acl auth_version bucket_acl chunk_size ciphers client_certificate_path client_id concurrency connections
    copy_cutoff domain download_url drive_id drive_type encoding endpoint endpoint_type host host_key_algorithms hostname idle_timeout key_exchange
    level lifecycle list_chunk list_version location location_constraint macs max_upload_parts msi_client_id msi_object_id namenode
    nextcloud_chunk_size object_acl pacer_min_sleep path_override port profile project_number provider pubkey public_access region remote role_arn
    role_session_name root_folder_id server_side_encryption shell_type sse_kms_key_id ssh storage_class storage_policy subsystem team_drive tenant
    tenant_domain tenant_id upload_concurrency upload_cutoff url user user_id user_project username vendor version_at
    """.split(whereSeparator: \.isWhitespace))

  /// Returns the name of a parameter whose value may be a secret, in a remote such as `:sftp,user=u,pass=…:path`.
  private static func secret(in remote: String) -> String? {
    // The parameters end at a colon outside of quotes; a path follows.
    var quote: Character?
    let end = remote.dropFirst().firstIndex { character in
      if character == quote { quote = nil } else if quote == nil, character == "'" || character == "\"" { quote = character }
      return quote == nil && character == ":"
    }
    for part in remote[..<(end ?? remote.endIndex)].split(separator: ",").dropFirst() {
      let name = part.prefix { $0 != "=" && $0 != ":" }
      guard part.dropFirst(name.count).first == "=" else { continue }
      let value = part.dropFirst(name.count + 1)
      let isKnown =
        harmless.contains(name) || name.hasSuffix("_file") || name.hasSuffix("_command") || ["true", "false", "unset"].contains(value)
      // An address may have a user name and a password, or a signature.
      guard isKnown, !value.contains("://") || !value.contains(where: { "@?".contains($0) }) else { return String(name) }
    }
    // One without quotes ends at its first colon.
    guard let end, remote[end...].hasPrefix("://"), remote[end...].contains(where: { "@?".contains($0) }) else { return nil }
    return remote[..<end].split(separator: ",").last.map { String($0.prefix { $0 != "=" }) }
  }
}
