/// The exit statuses and error codes that `packer explain` knows.
///
/// Scripts/run-readme.py writes the texts into Documentation/TROUBLESHOOTING.md.
enum FailureCatalog {
  /// The meaning of one status or code, and what to do.
  struct Entry: Sendable {
    /// The number of an exit status, or the identifier of an error code.
    let code: String
    let cause: String
    let remedy: String

    var isExitStatus: Bool { code.allSatisfy(\.isNumber) }
  }

  /// Returns the entry for an exit status such as `11`, or for an error code such as `wrong-key`; nil if there is none.
  static func entry(_ code: String) -> Entry? {
    let row = table.split(separator: "\n").lazy.map { $0.split(separator: " | ").map(String.init) }.first { $0[0] == code.lowercased() }
    return row.map { Entry(code: $0[0], cause: $0[1], remedy: $0[2]) }
  }

  /// A line for each: code, cause and remedy.
  private static let table = """
    0 | Done, without findings. | Nothing to do.
    1 | There are findings: faults in a release, a pack lost in a simulation, a failed trial, or 'store purge' freed less space than requested. | \
    Read them; 'packer explain RULE' describes each.
    2 | Only budgets of the team in packer.yml are exceeded. | Make packs smaller or 'onDemand', or raise the budget; a pipeline may ask a person.
    3 | The release does not fit an app version that players still have. | The rule in the output says why: sizes (PK3007), a host, keys (PK3009, \
    PK3010), or the manifest's version or address (PK3012). See Documentation/BUDGETS.md.
    10 | No key was given, the text is not a key, or a program did not sign. | Set '--key', a 'PACKER_KEY' variable, or for releases 'key' in \
    packer.yml.
    11 | The pack was made with another key. | Give the key whose id the message names, or its root key.
    12 | A pack, a manifest or a store is damaged or was changed, or a delta has other bases. | Fetch or build it again, or give its bases.
    13 | A file ends too early. | Fetch it again, and compare its size with the manifest's.
    14 | No trusted key signed the manifest, or its signature is wrong. | Check 'trust' in packer.yml and '--trust'; never install the release.
    15 | A number is above a limit of the format or of the caller. | Divide the content among several packs, or raise the caller's limit.
    20 | 'packer verify --live' found faults at the server. | Read them; 'packer explain RULE' describes each.
    21 | The server does not answer. | Check the address, and the network of this machine.
    64 | The command line is not valid. | Read 'packer help VERB'.
    65 | An input is not a pack, a configuration is wrong, or a tree cannot be packed. | Correct the file and line that the message names.
    66 | An input does not exist, or a pack, version or entry is not there. | Check the path; 'packer ls' and 'packer store list' show what there \
    is.
    69 | 'packer serve' cannot listen, or its certificate cannot be used. | Choose another '--port' (0 is a free one), or another directory for \
    '--certificate'.
    70 | An internal error. | Please report it with 'packer --version'.
    73 | A file cannot be written, or a store is busy or over its quota. | Free the bytes that the message names, or write elsewhere.
    74 | A file cannot be read, or changed while it was read. | Check permissions and disk, and run again when no other program writes there.
    130 | Interrupted by Ctrl-C. | Run it again; no partial results are left.
    143 | Terminated by SIGTERM. | Run it again; no partial results are left.
    no-key | No key was given, or the named source contains none. | Name one with '--key' or a 'PACKER_KEY' variable; in an app, have the key \
    provider return it.
    malformed-key | The text is not a key: wrong length, kind or checksum. | Copy the whole key again; 'pkk1-' and 'pkx1-' keys open packs, \
    'pks1-' keys sign, 'pkp1-' and 'pkw1-' keys are public.
    wrong-key | The pack was made with another key; nothing was decrypted. | Give the key with the id that the message names, or the root key it \
    was derived from.
    not-wrapped | The pack is not wrapped for the recipient whose key was given; nothing was decrypted. | Give its publisher your public key, and \
    ask for a copy made with 'packer key wrap'.
    no-usable-key | The pack's header has no key stanza that this version can use. | Update packer or the app, or build the pack for this version.
    not-a-pack | The file does not start with the bytes of a pack. | Check that it is the '.pack' file and not an error page of the server.
    unsupported | The pack needs a version or feature that this build does not know. | Update packer or the app.
    truncated | The pack ends too early. | Fetch it again; the server may have cut it or changed its encoding.
    damaged-header | The header was changed after the pack was made. | Fetch or build the pack again.
    authentication-failed | A segment was changed after it was encrypted. | Fetch or build the pack again; check disk and transfer.
    digest-mismatch | A file's content does not match its digest in the index or the manifest. | Fetch it again; publish exactly what 'packer \
    build' made.
    damaged-payload | The decrypted content breaks a rule of the format. | Build the pack again; do not use an unknown maker's.
    damaged-archive | The tar archive in the pack does not match the index. | Do not use the pack, and ask its maker.
    wrong-pack | The pack is undamaged, but another one was expected. | Publish each pack under the URL that its manifest entry names.
    wrong-base | The packs given as bases, or installed, are not those that the delta was made for, or are damaged. | Give them with '--base'; \
    'packer inspect DELTA --key REF' shows their content roots. For a store, install the full pack.
    illegal-path | A path leads outside, or breaks a rule of FORMAT.md §5. | Rename the file; do not use somebody else's pack.
    limit-exceeded | A number is above a limit of the format or of the caller. | Split the content, or raise the caller's limit; FORMAT.md §6 \
    lists those of the format.
    unportable-path | Some platform cannot store a file name, or treats two names as one. | Rename the file, or set 'allowUnportablePaths'.
    no-such-entry | The pack has no such file. | List its files with 'packer ls'; upper and lower case differ.
    range-not-satisfiable | The byte range is not inside the file. | Ask for a range within the file's size.
    damaged-manifest | The manifest breaks a rule of the format, or was changed. | Publish 'manifest.json' byte for byte as built.
    untrusted-signature | No trusted key signed the manifest, or a signature is wrong. | Sign with a key that the app trusts; see \
    Documentation/CONFIGURATION.md.
    signing-failed | The program that should sign failed, took too long, or returned no signature that holds under its public key. | Run it by \
    itself, with the message on standard input; see Examples/Signers.
    manifest-expired | The manifest has expired; installed packs remain usable. | Publish one from 'packer build --renew'; check the device's \
    clock.
    manifest-rollback | The manifest is older than the accepted one, or has the same version but different content. | Publish the newest; record \
    every release in packer.lock.json before publishing.
    damaged-keys | A keys document breaks a rule of the format, or was changed. | Restore the file of keys documents from version control, and \
    build again.
    untrusted-keys | A keys document is not signed by enough root signing keys, or does not follow the one before. | See 'packer key trust show'; \
    'packer key trust sign' adds signatures, and 'packer build' puts all documents into the manifest.
    keys-expired | The newest keys document has expired; installed packs remain usable. | Make the next one with 'packer key trust rotate', have \
    it signed, build and publish.
    wrong-shard | A shard of the catalogue was changed, or belongs to another release. | Fetch it again, and the manifest first.
    invalid-manifest | The release contains values that a manifest must not contain. | Correct the ids, URLs or sizes that the message names.
    invalid-configuration | packer.yml has mistakes, each listed with line and column. | Correct them; 'packer init --schema' lists every key.
    invalid-record | packer.lock.json or build.json is not in a form that this version reads. | Update packer, or move dist away and build again; \
    never delete the lock file.
    unmerged-record | A merge left conflict markers in packer.lock.json or packer.apps. | Run 'packer release resolve', then 'packer build'.
    release-conflict | What is recorded now contradicts an earlier record. | Use a new app version; a recorded one never changes.
    missing-lock | packer.lock.json or packer.apps is missing, although there must be one. | Restore it from version control; only before the \
    first release, make an empty one.
    malformed-url | The system cannot download from the URL. | Use 'https', a host, and no credentials.
    unreadable-app | The built app is damaged or encrypted, or holds no app or several. | Export it again, and copy it whole.
    malformed-plist | The file is not a property list, or contains values that property lists do not allow. | Check it with 'plutil -lint' or your \
    editor.
    plist-conflict | The Info.plist has values that packer did not write. | Compare both numbers, then merge with '--replace'.
    missing-input | A file or directory does not exist. | Check the path and the working directory.
    cannot-read | A file or directory cannot be read. | Check its permissions and the disk.
    cannot-write | A file or directory cannot be written. | Check permissions, file-size limits and whether the volume is read-only.
    no-space | There is not enough free space; the message says how many bytes are missing. | Free them, or write to another volume.
    output-exists | The output path already exists. | Choose another path, or move the existing file or directory.
    unsuitable-source | The tree contains links, devices, secrets or illegal names. | Exclude or rename what is listed, or set the option that the \
    message names.
    source-changed | A file changed while it was read. | Run again when no other program writes there.
    output-closed | The program that read standard output ended, as 'head' does. | Nothing to do.
    store-busy | Other processes kept changing the store for longer than the time limit. | Try again; look for a process that hangs.
    not-a-store | The directory is not a store. | Name an empty directory or an existing store.
    damaged-store | A record of the store cannot be read. | Run 'reconcile()', which rebuilds it from the installed packs.
    stale-confirmation | The token belongs to a trial that is over. | Confirm with the running version's token.
    not-confirmed | The version on trial was not confirmed in time, or failed. | Show the previous version, which is active again; correct the new \
    one.
    version-failed | These bytes failed on this device and are not tried again. | Publish a new version.
    not-installed | The pack or version is not installed, or no version was activated. | Install it or request it by tag, and call 'activate' \
    before you open it.
    purged | The pack was removed to free space. | Download it again.
    quota-exceeded | The store would exceed its quota by the bytes in the message. | Free packs, or raise the quota.
    in-use | A process has the pack open, or the pack is on trial. | Close it, or wait for the trial.
    unknown-pack | The manifest lists no such pack. | Check the id; adopt the newest manifest.
    catalogue-not-available | The part of the catalogue that may list the pack or tag is missing. | Try again with a network.
    no-manifest | No manifest was accepted yet, or none is readable. | Fetch one and adopt it.
    offline | The device has no network. | Try again when there is one, or set 'waitsForNetwork'.
    download-failed | A file could not be downloaded; the message says why. | Try again later; check the server.
    unknown-tag | No pack in the manifest has the tag. | Check its spelling; the message suggests one. Fetch the newest manifest.
    manifest-changed | Another manifest was accepted meanwhile, and the tags stand for other content. | Begin the request again.
    downloads-busy | Another process or library downloads into the directory. | Use one library per directory, and release it first.
    not-downloads | The directory is not one for downloads, or belongs to a newer version. | Name another directory, or update the app.
    state-busy | The other process held the shared state for more than a second; nothing is lost. | Plan again.
    damaged-state | A record of the shared state cannot be read. | Plan again, which rebuilds the record.
    no-app-group | The process is not in the app group. | Add the capability to both targets, with the same group.
    system-refused | The system's download manager refused, or did not answer. | See Documentation/BACKGROUND_ASSETS.md; plan again later.
    invalid-bundled-resource | The bundled resource of a remote asset is not valid. | Correct it and build the app again.
    invalid-content | The fetched bytes could not be turned into a value; the old value stays. | Correct the file on the server.
    content-unavailable | The content could not be fetched; the old value stays. | Check network and server.
    usage | The call is not valid: a value is out of range, or options exclude each other. | Correct it as the message says.
    cannot-serve | The server cannot start: its port is taken or reserved, or its certificate cannot be used. | Choose another '--port', or \
    another directory for '--certificate'.
    server-unreachable | The server gave no answer. | Check the address, and the network of this machine.
    cancelled | The task was cancelled. | Start it again if that was not intended.
    internal-error | A library or packer broke its own rules, or memory ran out. | Check free memory, then report it with 'packer --version'.
    """
}
