import ArgumentParser

/// The options of `verify` and `publish` about the published release.
struct LiveOptions: ParsableArguments {
  @Flag(name: .customLong("live"), help: "Also ask the server for every file of the published release, as a phone does.")
  var isLive = false

  @Option(
    name: .customLong("live-at"),
    help: ArgumentHelp(
      "Ask this folder in place of 'baseURL'; on this machine also over http. Implies --live.", valueName: "url", visibility: .hidden))
  var place: String?

  @Option(
    name: .customLong("live-state"),
    help: ArgumentHelp(
      "Note what was read, and ask only for changes of it, for a day: for a run that goes on after one that was stopped.",
      valueName: "file",
      visibility: .hidden),
    completion: .file())
  var state: String?

  @Option(
    name: .customLong("live-seed"),
    help: ArgumentHelp("Choose the same samples as the run that printed this number.", valueName: "number", visibility: .hidden))
  var seed: UInt64?

  /// Whether the server is asked.
  var asks: Bool { isLive || place != nil }

  /// Throws if they do not make sense, for a command that asks the server at its end.
  func check() throws(PackError) {
    guard asks || state == nil && seed == nil else {
      throw PackError(
        .usage, "\(state == nil ? "--live-seed" : "--live-state") is for a check of the published release", hint: "add --live")
    }
    if let place { _ = try LiveAddress(folder: place) }
  }

  /// - Parameter patience: how long caches may still have an earlier manifest, in seconds.
  func apply(to verification: inout ReleaseVerification, patience: Int) throws(PackError) {
    guard asks else {
      try check()
      guard verification.only.isEmpty || !verification.only.allSatisfy({ $0.hasPrefix("PK7") }) else {
        throw PackError(.usage, "these rules are about the published release, and the server is not asked", hint: "add --live")
      }
      return
    }
    guard verification.configuration?.hosting ?? .unmanaged == .unmanaged else {
      throw PackError(
        .usage, "the system downloads the packs of this release, as \(verification.configuration?.path ?? "packer.yml") says",
        hint: "Documentation/MANAGED_PACKS.md describes it")
    }
    (verification.isLive, verification.livePatience) = (true, patience)
    verification.livePlace = try place.map { (text) throws(PackError) in try LiveAddress(folder: text) }
    verification.liveState = state
    verification.liveSeed = seed ?? UInt64.random(in: 0..<1_000_000)
  }
}
