extension PackError.Advice {
  /// One of each case.
  package static let samples: [Self] = [
    .fetchAgain, .fetchManifestAgain, .fetchFromTrustedPlace, .tryAgain, .connect, .checkClock, .updateApp, .freeSpace(bytes: 4096),
    .makeRoom(bytes: 1), .giveKey(KeyID([1, 2, 3, 4, 5, 6, 7, 8])), .acceptManifest, .fetchShards(["catalogue-0123456789abcdef.shard"]),
    .install, .activate, .closePack, .reconcileStore,
    .chooseEntry, .chooseBase, .fetchFullPack,
    .chooseFile, .chooseDirectory, .renewManifest, .raiseManifestVersion, .publishNewVersion, .copyKeyAgain, .askForCopy,
    .giveKeyText(prefix: "pkk1-", insteadOf: "pks1-"), .giveTrustedKeys, .developer("call it once"),
  ]

  /// Does not compile if a case is missing. Then add a sample of it above.
  private var isSampled: Bool {
    switch self {
    case .fetchAgain, .fetchManifestAgain, .fetchFromTrustedPlace, .tryAgain, .connect, .checkClock, .updateApp, .freeSpace, .makeRoom,
      .giveKey,
      .acceptManifest, .fetchShards, .install, .activate, .closePack, .reconcileStore, .chooseEntry, .chooseBase, .fetchFullPack,
      .chooseFile,
      .chooseDirectory,
      .renewManifest,
      .raiseManifestVersion, .publishNewVersion, .copyKeyAgain, .askForCopy, .giveKeyText, .giveTrustedKeys, .developer:
      true
    }
  }
}
