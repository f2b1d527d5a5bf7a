/// The environment of comparisons: the tool and its key, the keys and passwords of the other tools, and the directory for outputs.
struct Arena {
  let packer: String
  /// A directory on a tmpfs.
  let scratch: String
  let recorder: Recorder
  let rounds: Int
  var stopwatch: Stopwatch

  private let disk = Disk()

  init(packer: String, scratch: String, recorder: Recorder, rounds: Int) throws(PackError) {
    guard MeasuredCorpus.isPlain(scratch), MeasuredCorpus.isPlain(packer) else {
      throw PackError(.usage, "--scratch and --packer are paths of letters, digits, '.', '_', '-' and '/'")
    }
    self.packer = packer
    self.scratch = scratch
    self.recorder = recorder
    self.rounds = rounds
    stopwatch = Stopwatch(scratch: scratch)
    try disk.makeDirectories("\(scratch)/gnupg")
    // Throw-away passwords for tools that need one. The measurements do not depend on them.
    let password = "correct-horse-battery-staple"
    try disk.write(password + "\n", to: "\(scratch)/password")
    stopwatch.environment = [
      "BENCH_PASSWORD": password, "RESTIC_PASSWORD": password, "RESTIC_CACHE_DIR": "\(scratch)/restic-cache",
      "GNUPGHOME": "\(scratch)/gnupg",
      "BORG_PASSPHRASE": password, "BORG_BASE_DIR": "\(scratch)/borg-base", "BORG_RELOCATED_REPO_ACCESS_IS_OK": "yes",
      "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK": "yes",
    ]
    _ = try stopwatch.run("chmod 700 \(scratch)/gnupg")
    if !disk.exists("\(scratch)/key") {
      _ = try stopwatch.run("\(packer) key new -o \(scratch)/key >/dev/null")
    }
  }

  /// Makes the key of the reference pipeline, if it does not exist.
  func prepareReference() throws(PackError) {
    guard !disk.exists("\(scratch)/age.pub") else { return }
    _ = try stopwatch.run("age-keygen -o \(scratch)/age.key 2>/dev/null && age-keygen -y \(scratch)/age.key >\(scratch)/age.pub")
  }

  func contest(rounds: Int? = nil, checksEveryRound: Bool = false) -> Contest {
    Contest(stopwatch: stopwatch, rounds: rounds ?? self.rounds, checksEveryRound: checksEveryRound)
  }

  /// Returns the command that packs a corpus. Unportable names and secrets are allowed, so that any real tree can be measured.
  func pack(_ corpus: MeasuredCorpus, to output: String, level: String?) -> String {
    "exec \(packer) pack \(corpus.directory) -o \(output) --key \(scratch)/key --name bench --allow-secrets --allow-unportable-paths --quiet"
      + (level.map { " --level \($0)" } ?? "")
  }

  func unpack(_ pack: String, to tree: String) -> String {
    "exec \(packer) unpack \(pack) -C \(tree) --key \(scratch)/key --allow-unportable-paths --quiet"
  }

  /// Returns a command of another tool with its placeholders replaced.
  func filled(_ command: String, corpus: MeasuredCorpus, output: String, tree: String = "") -> String {
    let values = [("CORPUS", corpus.directory), ("OUT", output), ("TREE", tree), ("FILE", corpus.middle.path), ("W/", scratch + "/")]
    var text = ""
    var rest = command[...]
    // In one pass, because a value may contain what looks like a placeholder.
    while let first = rest.first {
      if let (place, value) = values.first(where: { rest.hasPrefix($0.0) }) {
        text += value
        rest = rest.dropFirst(place.count)
      } else {
        text.append(first)
        rest = rest.dropFirst()
      }
    }
    return text
  }
}
