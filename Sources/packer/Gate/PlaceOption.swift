import ArgumentParser

/// The place from which devices fetch releases.
struct PlaceOption: ParsableArguments {
  @Option(
    name: .customLong("to"),
    help: ArgumentHelp("The folder, remote of rclone or program. (default: 'publish: {to: …}' in packer.yml)", valueName: "place"))
  var text: String?

  /// Throws if the place is a directory that would be packed, or that a build replaces.
  ///
  /// - Parameter release: the directory of the release.
  func check(_ configuration: PackerConfiguration?, release: String) throws(PackError) {
    guard let text = text ?? configuration?.publish.place, PackerConfiguration.isDirectory(text) else { return }
    for pack in configuration?.packs ?? [] where pack.packs(text) {
      throw PackError(
        .usage, of: text, "is in \(pack.root), the root of pack '\(pack.id)', and would be packed", hint: "name a directory outside it")
    }
    let files = SystemFiles()
    guard let own = try? files.canonicalPath(of: text), let other = try? files.canonicalPath(of: ReleasePlaces.directory(of: release)),
      own == other
    else { return }
    throw PackError(.usage, of: text, "is the release itself, which a build replaces", hint: "name the directory that the server serves")
  }

  /// - Throws: ``PackError/Code/usage`` if none is named, or one of the configuration needs a program and none is started;
  ///   ``PackError/Code/untrustedProgram``.
  func place(_ configuration: PackerConfiguration?, starting use: ProgramUse, showsProgress: Bool) throws(PackError) -> any PublishingPlace
  {
    guard let text = text ?? configuration?.publish.place else {
      throw PackError(
        .usage, "no place was named", hint: "give --to games:bucket/packs, or write into packer.yml: publish: {to: games:bucket/packs}")
    }
    if let configuration, self.text == nil, PackerConfiguration.startsProgram(text) {
      try configuration.checkProgram("publish", for: use, else: .usage, other: "name the place with --to")
    }
    return try PlaceName.place(text, showsProgress: showsProgress)
  }
}
