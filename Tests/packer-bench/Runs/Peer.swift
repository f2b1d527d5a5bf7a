/// A tool that could be used instead, and how.
///
/// The commands are those of its manual for a key or password in a file or variable. `CORPUS`, `OUT`, `TREE` and `FILE` stand for
/// the tree, the archive, the directory to unpack to and the path of one file; `W` is where keys are.
struct Peer {
  let name: String
  /// Run before each packing: repositories have to be made.
  var setup = ""
  let pack: String
  let unpack: String
  let list: String
  let one: String
  let verify: String
  /// Where in a line of its listing a path starts, and which lines are of files.
  var listColumn = 0
  var listsFile: @Sendable (Substring) -> Bool = { _ in true }
  var keepsModes = true

  /// Everything that does not belong into a figure but into a sentence: what the tool does not do.
  var lacks = ""

  private static let tar = "tar -C CORPUS -cf - ."

  /// The pipeline that all limits refer to.
  static func reference(level: Int) -> Peer {
    let open = "age -d -i W/age.key OUT | zstd -dc"
    return Peer(
      name: "tar | zstd -\(level) -T2 | age",
      pack: "\(tar) | zstd -q -\(level) -T2 | age -r $(<W/age.pub) >OUT",
      unpack: "\(open) | tar -C TREE -xf -",
      list: "\(open) | tar --quoting-style=literal -t",
      one: "\(open) | tar -xO ./FILE",
      verify: "age -d -i W/age.key OUT >/dev/null",
      lacks:
        "No index: one file or the list of names costs the whole archive, and identical files are stored again where the window does not reach."
    )
  }

  private static let openssl = "openssl enc -aes-256-ctr -pbkdf2 -pass file:W/password"
  private static let gpg =
    "gpg --batch --yes --quiet --no-symkey-cache --pinentry-mode loopback --passphrase-file W/password"

  /// Those shown side by side. Each works as its users would start it, with the password stretching that it has.
  static let others = [
    Peer(
      name: "7z -p -mhe",
      pack: "cd CORPUS && 7z a -t7z -bd -bso0 -p$BENCH_PASSWORD -mhe=on -mx=1 -mmt=2 OUT .",
      unpack: "7z x -bd -bso0 -p$BENCH_PASSWORD -oTREE OUT",
      list: "7z l -ba -p$BENCH_PASSWORD OUT", one: "7z x -so -bd -p$BENCH_PASSWORD OUT FILE",
      verify: "7z t -bd -bso0 -p$BENCH_PASSWORD OUT",
      listColumn: 53, listsFile: { $0.dropFirst(20).first != "D" }, keepsModes: true,
      lacks: "CBC with a CRC-32 and no authentication: changes by somebody who knows the format are not noticed."),
    Peer(
      name: "zip -e",
      pack: "cd CORPUS && zip -q -r -D -P $BENCH_PASSWORD OUT .",
      unpack: "unzip -q -P $BENCH_PASSWORD OUT -d TREE",
      list: "unzip -Z1 OUT", one: "unzip -p -P $BENCH_PASSWORD OUT FILE", verify: "unzip -tqq -P $BENCH_PASSWORD OUT",
      lacks: "ZipCrypto, which was broken in 1994; names and sizes are in the clear and nothing is authenticated."),
    Peer(
      name: "tar | gpg -c",
      pack: "\(tar) | \(gpg) -c --cipher-algo AES256 -o OUT",
      unpack: "\(gpg) -d OUT | tar -C TREE -xf -",
      list: "\(gpg) -d OUT | tar --quoting-style=literal -t", one: "\(gpg) -d OUT | tar -xO ./FILE",
      verify: "\(gpg) -d OUT >/dev/null",
      lacks: "No index; what it decrypts is handed out before the check at its end."),
    Peer(
      name: "tar | zstd | openssl enc",
      pack: "\(tar) | zstd -q -3 -T2 | \(openssl) >OUT",
      unpack: "\(openssl) -d <OUT | zstd -dc | tar -C TREE -xf -",
      list: "\(openssl) -d <OUT | zstd -dc | tar --quoting-style=literal -t", one: "\(openssl) -d <OUT | zstd -dc | tar -xO ./FILE",
      verify: "\(openssl) -d <OUT | zstd -tq",
      lacks: "Cannot authenticate: whoever changes the archive changes the files, bit by bit. No index."),
    restic,
    Peer(
      name: "borg", setup: "borg init -e repokey-blake2 OUT",
      pack: "cd CORPUS && borg create -C zstd,3 OUT::a .",
      unpack: "cd TREE && borg extract OUT::a",
      list: "borg list --format '{type} {path}{NL}' OUT::a", one: "borg extract --stdout OUT::a FILE",
      verify: "borg check --verify-data OUT",
      listColumn: 2, listsFile: { $0.hasPrefix("- ") },
      lacks: "A repository of many files for its own client, not one file to be served."),
  ]

  /// The one that verification is held against.
  static let restic = Peer(
    name: "restic", setup: "restic -q -r OUT init",
    pack: "cd CORPUS && restic -q -r OUT backup .",
    unpack: "restic -q -r OUT restore latest --target TREE",
    list: "restic -q -r OUT ls --json latest | sed -n 's/.*\"type\":\"file\",\"path\":\"\\([^\"]*\\)\".*/\\1/p'",
    one: "restic -q -r OUT dump latest /FILE",
    verify: "restic -q -r OUT check --read-data",
    lacks: "A repository of many files for its own client, not one file to be served.")

  static func sevenZip() -> Peer { others[0] }
}
