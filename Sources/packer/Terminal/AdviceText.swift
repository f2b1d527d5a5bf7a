extension PackError {
  /// The hint below an error: what to do about it, as a command to type if there is one.
  ///
  /// The only place that puts the client library's advice into words for the command line.
  var hint: String? { advice.map(text) }

  private func text(of advice: Advice) -> String {
    switch advice {
    case .fetchAgain: fetchAgain
    case .fetchManifestAgain:
      code == .untrustedSignature
        ? "fetch it again, or sign it again with 'packer build'"
        : "fetch the manifest again; a server or cache on the way may serve an old one"
    case .fetchFromTrustedPlace: "the program that made the pack is faulty or hostile; fetch the pack from a source you trust"
    case .tryAgain: tryAgain
    case .connect: "try again when there is a network"
    case .checkClock: "check the server's certificate and this device's clock"
    case .updateApp: "update packer, or the app that reads it"
    case .freeSpace: "free space on that volume or choose another one\(unchanged)"
    case .makeRoom: "remove packs, lower the preservation of some, or raise the quota\(unchanged)"
    case .giveKey(let id): "give the key with the id \(id), or the root key it was derived from"
    case .acceptManifest: "fetch the manifest and adopt it ('packer store adopt')"
    case .fetchShards: "keep the shards of the release beside its packs, as 'packer build' wrote them"
    case .install:
      code == .purged ? "install it again ('packer store install')" : "install it first ('packer store install')"
    case .activate: "install one and activate it ('packer store install', 'packer store activate')"
    case .closePack: "close it in every process, or remove the pack ('packer store remove')"
    case .reconcileStore: reconcileStore
    case .chooseEntry: "list the paths with 'packer ls'"
    case .chooseBase:
      code == .unsupported || code == .usage
        ? "apply it to the packs that it was made for: packer unpack DELTA --base PACK|DIR -C DIR"
        : "name the packs that it was made for: --base PACK|DIR, once for each"
    case .fetchFullPack: "install the full pack ('packer store install')"
    case .chooseFile: "give the output a file name"
    case .chooseDirectory:
      code == .notAStore
        ? "give the store its own directory"
        : "choose a directory that does not exist yet or is empty; existing files are never mixed with new ones"
    case .renewManifest: "publish a new one with 'packer build --renew', or set this device's clock"
    case .raiseManifestVersion: "publish every change under a higher version; 'packer build' takes the next one from packer.lock.json"
    case .publishNewVersion: "publish a new version; these bytes are not tried again"
    case .copyKeyAgain: "copy the key again from where it is kept, or print a public key again with 'packer key public'"
    case .askForCopy: "give the publisher what 'packer key public --key REF' prints, and ask for a copy made with 'packer key wrap'"
    case .giveKeyText(let prefix, let other): giveKeyText(prefix, insteadOf: other)
    case .giveTrustedKeys: "give the keys that 'packer key public' prints"
    case .developer(let sentence): sentence
    }
  }

  /// If the store removed packs and still did not free enough, the details say so.
  private var unchanged: String { details.isEmpty ? "; nothing was changed" : "" }

  private var fetchAgain: String {
    switch code {
    case .notAPack: "an error page, compression or converted line endings may have replaced it; a pack starts with 89 50 41 4B"
    case .truncated: "fetch the pack again; the transfer was cut"
    case .wrongShard: "copy the shard again from the directory that 'packer build' wrote"
    case .wrongPack: "fetch the pack again; it is another file, or was renamed or replaced after the manifest was made"
    case .authenticationFailed:
      "compare its size with the published one and fetch the pack again; if that does not help, the pack was changed on the server"
    default: "fetch the pack again"
    }
  }

  private var tryAgain: String {
    switch code {
    case .sourceChanged: "try again, and do not change the file while it is read"
    case .storeBusy: "try again; a process holds the lock only while it changes the store"
    default: "try again"
    }
  }

  private var reconcileStore: String {
    switch code {
    case .notInstalled, .purged: "reconcile the store ('packer store reconcile'), and install it again"
    case .inUse: "close it, then reconcile the store ('packer store reconcile')"
    default: "reconcile the store ('packer store reconcile'), which rebuilds the record from the installed packs"
    }
  }

  private func giveKeyText(_ prefix: String, insteadOf other: String) -> String {
    switch (prefix, other) {
    case ("pkp1-", "pks1-"):
      "a signing key is secret: print its public key with 'packer key public', and keep the signing key private"
    case ("pkk1-", "pks1-"): "give the key that starts with pkk1-; signing keys are named with --sign-key"
    case ("pkk1-", "pkx1-"): "give the key that starts with pkk1-; a recipient's key only opens packs"
    case ("pkw1-", "pkx1-"): "print the public half with 'packer key public --key REF', and keep the secret half private"
    case ("pks1-", "pkk1-"): "give the key that starts with pks1-; pack keys are named with --key"
    default: "give the key that starts with \(prefix)"
    }
  }
}
