extension SharedState {
  private static let installationName = "installation"
  private static let installationLine = "packer-delivery-installation/1"

  /// Returns what decides which candidates of rollouts this installation takes (FORMAT.md §9.11). App and extension choose alike.
  ///
  /// The random bytes are made once, by whichever of the two is first, and stay as long as the directory. A damaged file is made anew.
  ///
  /// - Parameter groups: the groups of the installation, if the app says them. Nil in the extension, which uses those that the app said last.
  /// - Returns: nil if the installation takes part in no rollout.
  /// - Throws: ``PackFormat/PackError/Code/stateBusy``, or an error of the file system.
  package func rolloutChoice(groups: Set<String>? = nil) throws(PackError) -> RolloutChoice? {
    guard isInRollouts else { return nil }
    // Rollouts name no others. What is kept must be read again.
    let groups = groups.map { Set($0.filter { (try? PackName($0)) != nil }.sorted().prefix(Self.mostGroups)) }
    func known() throws(PackError) -> RolloutChoice? {
      let bytes = try directory.read(Self.installationName, limit: Self.longestInstallation, in: directory.open())
      return bytes.flatMap { Self.choice(parsing: $0) }
    }
    if let known = try known(), groups == nil || groups == known.groups { return known }
    return try directory.withLock { (root) throws(PackError) in
      let last = try known()
      let choice = RolloutChoice(installation: last?.installation ?? Self.randomBytes(), groups: groups ?? last?.groups ?? [])
      if choice != last { try directory.replace(Self.installationName, with: Self.text(of: choice).byteSpan, in: root) }
      return choice
    }
  }

  /// The most groups of an installation that count.
  private static let mostGroups = 256
  private static let longestInstallation = 1024 + mostGroups * (Limits.nameLength + 1)

  private static func randomBytes() -> [UInt8] { (0..<RolloutChoice.size).map { _ in UInt8.random(in: 0...255) } }

  private static func text(of choice: RolloutChoice) -> [UInt8] {
    let text = "\(installationLine)\nrandom \(choice.installation.hex)\ngroups \(choice.groups.sorted().joined(separator: " "))\n"
    return Array(text.utf8) + Array("check \(PackStatus.check(of: text.utf8))\n".utf8)
  }

  private static func choice(parsing bytes: [UInt8]) -> RolloutChoice? {
    let lines = bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    guard lines.count == 4, lines[1].hasPrefix("random "), lines[2].hasPrefix("groups "),
      let random = [UInt8](hex: String(lines[1].dropFirst("random ".count)), count: RolloutChoice.size)
    else { return nil }
    let groups = lines[2].dropFirst("groups ".count).split(separator: " ").map(String.init)
    let choice = RolloutChoice(installation: random, groups: Set(groups))
    return text(of: choice) == bytes ? choice : nil
  }

  /// Returns a manifest as this device sees it. One without rollouts, or one of which an app chose the editions, stays as it is.
  func choosing(_ manifest: ManifestListing, _ device: StoreRecords?) throws(PackError) -> ManifestListing {
    guard !manifest.head.rollouts.isEmpty, manifest.contains(where: { $0.candidate != nil }) else { return manifest }
    let time = ManifestTime(clamping: time)
    let chooser = EditionChooser(manifest.head, try rolloutChoice(), at: time) { (id, bytes) throws(PackError) in
      try device?.standing(of: bytes, id) ?? .other
    }
    return try manifest.choosing(chooser)
  }
}
