/// A tool that could be used instead of packer, and its commands.
///
/// The commands follow its manual, with a key or password in a file or variable. Placeholders: `CORPUS` is the tree, `OUT` the archive, `TREE` the
/// directory to unpack to, `FILE` the path of one file, `W` the directory of the keys.
struct Peer {
  let name: String
  /// The command before each packing, which creates a repository.
  var setup = ""
  let pack: String
  let unpack: String
  let list: String
  let one: String
  let verify: String
  /// The column in its listing at which a path starts, and below, which lines are files.
  var listColumn = 0
  var listsFile: @Sendable (Substring) -> Bool = { _ in true }
  var keepsModes = true

  /// A sentence about what the tool lacks.
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
        "No index: reading one file or the list of names means reading the whole archive. Identical files outside the window are stored again."
    )
  }

  private static let openssl = "openssl enc -aes-256-ctr -pbkdf2 -pass file:W/password"
  private static let gpg =
    "gpg --batch --yes --quiet --no-symkey-cache --pinentry-mode loopback --passphrase-file W/password"

  /// The other measured tools. Each runs as its users would start it, with its own password stretching.
  static let others = [
    Peer(
      name: "7z -p -mhe",
      pack: "cd CORPUS && 7z a -t7z -bd -bso0 -p$BENCH_PASSWORD -mhe=on -mx=1 -mmt=2 OUT .",
      unpack: "7z x -bd -bso0 -p$BENCH_PASSWORD -oTREE OUT",
      list: "7z l -ba -p$BENCH_PASSWORD OUT", one: "7z x -so -bd -p$BENCH_PASSWORD OUT FILE",
      verify: "7z t -bd -bso0 -p$BENCH_PASSWORD OUT",
      listColumn: 53, listsFile: { $0.dropFirst(20).first != "D" }, keepsModes: true,
      lacks: "CBC with a CRC-32 and no authentication: deliberate changes are not detected."),
    Peer(
      name: "zip -e",
      pack: "cd CORPUS && zip -q -r -D -P $BENCH_PASSWORD OUT .",
      unpack: "unzip -q -P $BENCH_PASSWORD OUT -d TREE",
      list: "unzip -Z1 OUT", one: "unzip -p -P $BENCH_PASSWORD OUT FILE", verify: "unzip -tqq -P $BENCH_PASSWORD OUT",
      lacks: "ZipCrypto, which was broken in 1994. Names and sizes are not encrypted, and nothing is authenticated."),
    Peer(
      name: "tar | gpg -c",
      pack: "\(tar) | \(gpg) -c --cipher-algo AES256 -o OUT",
      unpack: "\(gpg) -d OUT | tar -C TREE -xf -",
      list: "\(gpg) -d OUT | tar --quoting-style=literal -t", one: "\(gpg) -d OUT | tar -xO ./FILE",
      verify: "\(gpg) -d OUT >/dev/null",
      lacks: "No index. Decrypted bytes are output before they are authenticated, at the end."),
    Peer(
      name: "tar | zstd | openssl enc",
      pack: "\(tar) | zstd -q -3 -T2 | \(openssl) >OUT",
      unpack: "\(openssl) -d <OUT | zstd -dc | tar -C TREE -xf -",
      list: "\(openssl) -d <OUT | zstd -dc | tar --quoting-style=literal -t", one: "\(openssl) -d <OUT | zstd -dc | tar -xO ./FILE",
      verify: "\(openssl) -d <OUT | zstd -tq",
      lacks: "No authentication: an attacker can flip single bits of the files. No index."),
    restic,
    Peer(
      name: "borg", setup: "borg init -e repokey-blake2 OUT",
      pack: "cd CORPUS && borg create -C zstd,3 OUT::a .",
      unpack: "cd TREE && borg extract OUT::a",
      list: "borg list --format '{type} {path}{NL}' OUT::a", one: "borg extract --stdout OUT::a FILE",
      verify: "borg check --verify-data OUT",
      listColumn: 2, listsFile: { $0.hasPrefix("- ") },
      lacks: "Many files for its own client."),
  ]

  /// The tool to compare verification with.
  static let restic = Peer(
    name: "restic", setup: "restic -q -r OUT init",
    pack: "cd CORPUS && restic -q -r OUT backup .",
    unpack: "restic -q -r OUT restore latest --target TREE",
    list: "restic -q -r OUT ls --json latest | sed -n 's/.*\"type\":\"file\",\"path\":\"\\([^\"]*\\)\".*/\\1/p'",
    one: "restic -q -r OUT dump latest /FILE",
    verify: "restic -q -r OUT check --read-data",
    lacks: "Many files for its own client.")

  static func sevenZip() -> Peer { others[0] }
}
