/// The exit statuses and error codes that `packer explain` knows.
///
/// The texts are those of Documentation/TROUBLESHOOTING.md; a test compares the two.
enum FailureCatalog {
  /// What one status or code means, and what to do.
  struct Entry: Hashable, Sendable {
    /// The number of an exit status, or the identifier of an error code.
    let code: String
    let cause: String
    let remedy: String

    init(_ code: String, _ cause: String, _ remedy: String) {
      self.code = code
      self.cause = cause
      self.remedy = remedy
    }
  }

  /// The entry of an exit status, as in `11`, or nil.
  static func exitStatus(_ text: String) -> Entry? { exitStatuses.first { $0.code == text } }

  /// The entry of an error code, as in `wrong-key`, or nil.
  static func errorCode(_ text: String) -> Entry? { errorCodes.first { $0.code == text.lowercased() } }

  static let exitStatuses = [
    Entry(
      "0", "Done, and nothing was found.",
      "Go on."),
    Entry(
      "1", "There are findings: faults of a release, a lost pack in a simulation, a failed trial, too little freed.",
      "Read them; 'packer explain RULE' describes each."),
    Entry(
      "2", "Only budgets are exceeded, those of the team or of the Info.plist.",
      "Make packs smaller or 'onDemand', or raise the budget; a pipeline may ask a person."),
    Entry(
      "3", "The release does not fit an app version that players still have.",
      "See Documentation/BUDGETS.md."),
    Entry(
      "10", "No key was given, or the text is not a key.",
      "Set '--key', a 'PACKER_KEY' variable, or 'key' in packer.yml."),
    Entry(
      "11", "The key is not the one that the pack was made with.",
      "Give the key whose id the message names, or its root key."),
    Entry(
      "12", "A pack, a manifest or a store is damaged or was changed.",
      "Fetch or build it again."),
    Entry(
      "13", "A file ends too early.",
      "Fetch it again, and compare its size with the manifest's."),
    Entry(
      "14", "No trusted key signed the manifest, or its signature is wrong.",
      "Check 'trust' in packer.yml and '--trust'; never install the release."),
    Entry(
      "64", "The command line makes no sense.",
      "Read 'packer help VERB'."),
    Entry(
      "65", "An input is not a pack, a configuration is wrong, or a tree cannot be packed.",
      "Correct the file and line that the message names."),
    Entry(
      "66", "An input is missing, or nothing like it is installed.",
      "Check the path; 'packer ls' and 'packer store list' show what there is."),
    Entry(
      "69", "'packer serve' cannot listen.",
      "Choose another '--port', or 0 for a free one."),
    Entry(
      "70", "An internal error.",
      "Please report it with 'packer --version'."),
    Entry(
      "73", "A file cannot be written, or a store is busy or over its quota.",
      "Free the bytes that the message names, or write elsewhere."),
    Entry(
      "74", "A file cannot be read, or changed while it was read.",
      "Check permissions and disk, and run again when nothing writes there."),
    Entry(
      "130", "Interrupted by Ctrl-C.",
      "Run it again: nothing half-done is left."),
    Entry(
      "143", "Terminated by SIGTERM.",
      "Run it again: nothing half-done is left."),
  ]

  static let errorCodes = [
    Entry(
      "no-key", "No key was given, or the place it should come from has none.",
      "Name one with '--key' or a 'PACKER_KEY' variable; in an app, have the key provider return it."),
    Entry(
      "malformed-key", "The text is not a key: wrong length, kind or checksum.",
      "Copy it again, whole; 'pkk1-' opens packs, 'pks1-' signs, 'pkp1-' is public."),
    Entry(
      "wrong-key", "The pack was made with another key; nothing was decrypted.",
      "Give the key with the id that the message names, or the root key it follows from."),
    Entry(
      "no-usable-key", "The pack's header has no key stanza that this version can use.",
      "Update packer or the app, or build the pack for this version."),
    Entry(
      "not-a-pack", "The file does not start like a pack.",
      "Check that it is the '.pack' file and not an error page of the server."),
    Entry(
      "unsupported", "The pack needs a version or feature that this build does not know.",
      "Update packer or the app."),
    Entry(
      "truncated", "The pack ends too early.",
      "Fetch it again; the server may have cut it or changed its encoding."),
    Entry(
      "damaged-header", "The header was changed after the pack was made.",
      "Fetch or build the pack again."),
    Entry(
      "authentication-failed", "A segment is not what the holder of the key sealed.",
      "Fetch or build the pack again; check disk and transfer."),
    Entry(
      "digest-mismatch", "A file's content is not what the index or the manifest says.",
      "Fetch it again; publish exactly what 'packer build' made."),
    Entry(
      "damaged-payload", "Authenticated content breaks a rule of the format.",
      "Build it again; refuse it if you do not know its maker."),
    Entry(
      "damaged-archive", "The tar inside is not the tree that the index names.",
      "Refuse the pack, and ask its maker."),
    Entry(
      "wrong-pack", "The pack is sound, but another one was expected.",
      "Publish each pack under the URL that its manifest entry names."),
    Entry(
      "illegal-path", "A path leads outside, or breaks a rule of FORMAT.md §5.",
      "Rename the file; refuse the pack if it came from somebody else."),
    Entry(
      "limit-exceeded", "A number is above a limit of the format or of the caller.",
      "Split the content, or raise the caller's limit; FORMAT.md §6 has the format's."),
    Entry(
      "unportable-path", "Some platform cannot hold a name, or takes two names for one.",
      "Rename it, or set 'allowUnportablePaths'."),
    Entry(
      "no-such-entry", "The pack has no such file.",
      "List what it has with 'packer ls'; case counts."),
    Entry(
      "range-not-satisfiable", "The byte range is not inside the file.",
      "Ask for a range within the file's size."),
    Entry(
      "damaged-manifest", "The manifest breaks a rule of the format, or was changed.",
      "Publish 'manifest.json' byte for byte as built."),
    Entry(
      "untrusted-signature", "No trusted key signed the manifest, or a signature is wrong.",
      "Sign with a key that the app trusts; see Documentation/CONFIGURATION.md."),
    Entry(
      "manifest-expired", "The manifest is past its date; installed packs keep running.",
      "Publish one from 'packer build --renew'; check the device's clock."),
    Entry(
      "manifest-rollback", "The manifest is older than one accepted before, or says something else under the same version.",
      "Publish the newest; record every release in packer.lock.json before publishing."),
    Entry(
      "invalid-manifest", "The release holds values that no manifest may hold.",
      "Correct the ids, URLs or sizes that the message names."),
    Entry(
      "invalid-configuration", "packer.yml has mistakes, each listed with line and column.",
      "Correct them; 'packer schema config' lists every key."),
    Entry(
      "invalid-record", "packer.lock.json or build.json is not in a form that this version reads.",
      "Resolve merge conflicts, or update packer; delete build.json freely, never the lock file."),
    Entry(
      "release-conflict", "What is to be recorded contradicts what is recorded.",
      "Use a new app version; one that is recorded never changes."),
    Entry(
      "malformed-url", "The URL is not one that the system downloads from.",
      "Use 'https', a host, and no credentials."),
    Entry(
      "malformed-plist", "The file is not a property list, or holds what none may hold.",
      "Check it with 'plutil -lint' or your editor."),
    Entry(
      "plist-conflict", "The Info.plist has values that somebody wrote by hand.",
      "Compare both numbers, then merge with '--replace'."),
    Entry(
      "missing-input", "A file or directory does not exist.",
      "Check the path and the working directory."),
    Entry(
      "cannot-read", "A file or directory cannot be read.",
      "Check its permissions and the disk."),
    Entry(
      "cannot-write", "A file or directory cannot be written.",
      "Check permissions, file-size limits and whether the volume is read-only."),
    Entry(
      "no-space", "Space is missing; the message says how many bytes.",
      "Free them, or write to another volume."),
    Entry(
      "output-exists", "The place for the output is taken.",
      "Choose another, or move what is there."),
    Entry(
      "unsuitable-source", "The tree holds links, devices, secrets or illegal names.",
      "Exclude or rename what is listed, or set the option that the message names."),
    Entry(
      "source-changed", "A file changed while it was read.",
      "Run again when nothing writes there."),
    Entry(
      "output-closed", "The reader of standard output went away, as 'head' does.",
      "Nothing has to be done."),
    Entry(
      "store-busy", "Other processes kept changing the store for longer than the time limit.",
      "Try again; look for a process that hangs."),
    Entry(
      "not-a-store", "The directory holds something else.",
      "Name an empty directory or an existing store."),
    Entry(
      "damaged-store", "A record of the store cannot be read.",
      "Run 'reconcile()', which rebuilds it from the content."),
    Entry(
      "stale-confirmation", "The token belongs to a trial that is over.",
      "Confirm with the token of the version that is running."),
    Entry(
      "not-confirmed", "The version on trial was not confirmed in time, or failed.",
      "Show the version before, which runs again; correct the new one."),
    Entry(
      "version-failed", "These bytes failed on this device and are not tried again.",
      "Publish a new version."),
    Entry(
      "not-installed", "The pack or version is not installed.",
      "Install it, or request it by tag."),
    Entry(
      "purged", "The pack was removed to free space.",
      "Download it again."),
    Entry(
      "quota-exceeded", "The store would exceed its quota by the bytes in the message.",
      "Free packs, or raise the quota."),
    Entry(
      "in-use", "Somebody has the pack open, or on trial.",
      "Close it, or wait for the trial."),
    Entry(
      "unknown-pack", "The manifest lists no such pack.",
      "Check the id; adopt the newest manifest."),
    Entry(
      "no-manifest", "No manifest was accepted yet, or none is readable.",
      "Fetch one and adopt it."),
    Entry(
      "offline", "The device has no network.",
      "Begin again when there is one, or set 'waitsForNetwork'."),
    Entry(
      "download-failed", "A file could not be downloaded; the message says why.",
      "Begin again later; look at the server."),
    Entry(
      "unknown-tag", "No pack in the manifest has the tag.",
      "Check its spelling; the message suggests one. Fetch the newest manifest."),
    Entry(
      "manifest-changed", "Another manifest was accepted meanwhile, and the tags mean other bytes.",
      "Begin the request again."),
    Entry(
      "queue-busy", "Another process or value has the download queue open.",
      "Use one queue per directory, and close it first."),
    Entry(
      "not-a-queue", "The directory is not a download queue, or one of a newer version.",
      "Name another directory, or update the app."),
    Entry(
      "damaged-queue", "A file of the queue is not what was written.",
      "Remove the queue's directory and submit again."),
    Entry(
      "no-such-request", "The queue has no such request or group.",
      "Submit it first; look at its groups."),
    Entry(
      "request-exists", "The id is taken by a different request.",
      "Choose another id, or forget the old group."),
    Entry(
      "state-busy", "The other process held the shared state for more than a second; nothing is lost.",
      "Plan again; it finds what there is."),
    Entry(
      "damaged-state", "A record of the shared state cannot be read.",
      "Plan again; it rebuilds the record."),
    Entry(
      "no-app-group", "The process is not in the app group.",
      "Add the capability to both targets, with the same group."),
    Entry(
      "system-refused", "The system's download manager refused, or did not answer.",
      "See Documentation/BACKGROUND_ASSETS.md; plan again later."),
    Entry(
      "invalid-bundled-resource", "The resource that a remote asset starts with is not valid.",
      "Correct it: the app was built with it."),
    Entry(
      "invalid-content", "Fetched bytes do not make a value; the old value stays.",
      "Correct the file on the server."),
    Entry(
      "content-unavailable", "Nothing came; the old value stays.",
      "Check network and server."),
    Entry(
      "usage", "The call makes no sense: a value out of range, or options that exclude each other.",
      "Correct the call as the message says."),
    Entry(
      "cannot-serve", "The server cannot start: its port is taken or reserved.",
      "Choose another '--port'."),
    Entry(
      "cancelled", "The task was cancelled.",
      "Start it again if that was not intended."),
    Entry(
      "internal-error", "A library or packer broke its own rules, or memory ran out.",
      "Check free memory, then please report it with 'packer --version'."),
  ]
}
