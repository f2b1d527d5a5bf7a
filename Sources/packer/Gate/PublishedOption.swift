import ArgumentParser

/// The option that names the manifest that devices have now.
struct PublishedOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("The manifest that is published now, whose versions must not come again.", valueName: "url|file"),
    completion: .file())
  var published: String?

  func manifest(trusting keys: TrustedKeys) throws(PackError) -> PublishedManifest? {
    guard let published else { return nil }
    return try PublishedManifest.read(published, trusting: keys)
  }
}
