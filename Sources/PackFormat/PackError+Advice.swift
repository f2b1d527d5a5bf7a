extension PackError {
  /// What can be done about an error.
  ///
  /// An app uses it to decide what to do next, and shows it to players in their language; ``description`` is a plain English default. The `packer`
  /// tool shows it as a command to type. The set is open: later versions add to it, so a `switch` needs a default.
  public enum Advice: Hashable, Sendable, CustomStringConvertible {
    // For apps and their players.

    /// Fetch the file again: it was changed or truncated in transfer, or it is another file.
    case fetchAgain
    /// Fetch the manifest again: a server or cache returned an old or damaged one.
    case fetchManifestAgain
    /// Fetch the file from a trusted place: it was made with the key, but breaks the format.
    case fetchFromTrustedPlace
    /// Try again: something else was using or changing it, or the operation it belongs to has ended.
    case tryAgain
    /// Connect the device to a network.
    case connect
    /// Set the device's clock, or have the server's certificate checked.
    case checkClock
    /// Update the app, or the tool: this build cannot read what a newer build wrote.
    case updateApp
    /// Free `bytes` bytes on the volume; nil if the number is not known.
    case freeSpace(bytes: UInt64?)
    /// Remove packs of `bytes` bytes to make room under the store's quota, or raise the quota.
    case makeRoom(bytes: UInt64)
    /// Give the key with this id, or the root key from which it is derived.
    case giveKey(KeyID)

    // For apps, which do this themselves.

    /// Accept a manifest, or accept one that lists the pack.
    case acceptManifest
    /// Fetch these files, which the manifest names, and try again.
    case fetchShards([String])
    /// Install the pack.
    case install
    /// Activate an installed version of the pack.
    case activate
    /// Close the pack wherever it is open.
    case closePack
    /// Reconcile the store with the files on the disk.
    case reconcileStore
    /// Ask for an entry that the pack has.
    case chooseEntry
    /// Open the delta over the packs that it was made for.
    case chooseBase
    /// Fetch the full pack, because its deltas cannot be used on this device.
    case fetchFullPack
    /// Give another name for the output: one that is valid for a file.
    case chooseFile
    /// Give another directory that does not exist yet, or is empty.
    case chooseDirectory

    // For publishers of packs.

    /// Publish the manifest again, with a later date of expiry.
    case renewManifest
    /// Publish the changes under a higher version of the manifest.
    case raiseManifestVersion
    /// Publish a new version of the pack.
    case publishNewVersion

    // For people who handle keys or write the app.

    /// Copy the text of the key again from its source.
    case copyKeyAgain
    /// Ask the publisher of the pack for a copy that is wrapped for the key.
    case askForCopy
    /// Give a key whose text starts with the first prefix (FORMAT.md §2.5); the text that was given starts with the second.
    case giveKeyText(prefix: String, insteadOf: String)
    /// Give the public keys that sign manifests.
    case giveTrustedKeys
    /// A sentence for the app's developer or the user of the tool, not for players.
    case developer(String)

    /// A stable name, for logs and records: lower case words joined by hyphens.
    public var id: String {
      switch self {
      case .fetchAgain: "fetch-again"
      case .fetchManifestAgain: "fetch-manifest-again"
      case .fetchFromTrustedPlace: "fetch-from-trusted-place"
      case .tryAgain: "try-again"
      case .connect: "connect"
      case .checkClock: "check-clock"
      case .updateApp: "update-app"
      case .freeSpace: "free-space"
      case .makeRoom: "make-room"
      case .giveKey: "give-key"
      case .acceptManifest: "accept-manifest"
      case .fetchShards: "fetch-shards"
      case .install: "install"
      case .activate: "activate"
      case .closePack: "close-pack"
      case .reconcileStore: "reconcile-store"
      case .chooseEntry: "choose-entry"
      case .chooseBase: "choose-base"
      case .fetchFullPack: "fetch-full-pack"
      case .chooseFile: "choose-file"
      case .chooseDirectory: "choose-directory"
      case .renewManifest: "renew-manifest"
      case .raiseManifestVersion: "raise-manifest-version"
      case .publishNewVersion: "publish-new-version"
      case .copyKeyAgain: "copy-key-again"
      case .askForCopy: "ask-for-copy"
      case .giveKeyText: "give-key-text"
      case .giveTrustedKeys: "give-trusted-keys"
      case .developer: "developer"
      }
    }

    /// The advice as an English sentence, without commands: lower case, no period.
    public var description: String {
      switch self {
      case .fetchAgain: "fetch the file again"
      case .fetchManifestAgain: "fetch the manifest again; a server or a cache in between may hold an old one"
      case .fetchFromTrustedPlace: "fetch the file from a trusted place; the program that made it is faulty or hostile"
      case .tryAgain: "try again"
      case .connect: "try again when there is a network"
      case .checkClock: "check the device's clock and the server's certificate"
      case .updateApp: "update the app"
      case .freeSpace(let bytes?): "free \(bytes) bytes on the volume"
      case .freeSpace(nil): "free space on the volume"
      case .makeRoom(let bytes): "remove packs of \(bytes) bytes, lower the preservation of some, or raise the quota"
      case .giveKey(let id): "give the key whose id is \(id), or the root key it was made from"
      case .acceptManifest: "fetch the manifest and accept it first"
      case .fetchShards(let names): "fetch \(names.joined(separator: ", ")) and try again"
      case .install: "install the pack"
      case .activate: "install a version of the pack and activate it"
      case .closePack: "close the pack wherever it is open"
      case .reconcileStore: "reconcile the store with the files on the disk"
      case .chooseEntry: "ask for an entry that the pack has"
      case .chooseBase: "open it over the packs that it was made for, in their order"
      case .fetchFullPack: "fetch the full pack"
      case .chooseFile: "give the output a file's name"
      case .chooseDirectory: "choose a directory that does not exist yet, or is empty"
      case .renewManifest: "publish the manifest again with a later date of expiry, or set the device's clock"
      case .raiseManifestVersion: "publish every change under a higher version"
      case .publishNewVersion: "publish a new version; these bytes are not tried again"
      case .copyKeyAgain: "copy the key again from its source"
      case .askForCopy: "give the publisher the public half of the key, and ask for a copy that is wrapped for it"
      case .giveKeyText(let prefix, _): "give the key that starts with \(prefix)"
      case .giveTrustedKeys: "name the public keys that may sign manifests"
      case .developer(let sentence): sentence
      }
    }
  }

  /// Makes an error with an optional sentence for the user of the tool.
  package init(_ code: Code, _ fault: String, details: [String] = [], hint: String?) {
    self.init(code, fault, details: details, advice: hint.map(Advice.developer))
  }

  /// Makes an error about a subject, with an optional sentence for the user of the tool.
  package init(_ code: Code, of subject: String, _ fault: String, details: [String] = [], hint: String?) {
    self.init(code, of: subject, fault, details: details, advice: hint.map(Advice.developer))
  }
}
