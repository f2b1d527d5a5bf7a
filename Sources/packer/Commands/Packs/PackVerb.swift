import ArgumentParser

/// `packer pack`
struct PackVerb: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "pack",
    abstract: "Packs a directory into one encrypted pack.",
    discussion: """
      The same tree and key give the same pack, byte for byte. An existing pack is replaced only once the new one is complete.

      .DS_Store, __MACOSX, ._*, Thumbs.db and .git are skipped and reported. Private keys and .env files are refused. Everything else is \
      packed, with a warning about node_modules, source maps and other files that 'packer init' would exclude.

      Examples:
        packer pack build/game -o game.pack --key game.key
        packer pack build/game -o game.pack --key env:GAME_KEY --level 12
        packer pack build/game -o game.pack --key game.key --exclude '*.map'
      """)

  @Argument(help: "The directory to pack.", completion: .directory)
  var directory: String

  @Option(name: [.customShort("o"), .customLong("output")], help: "The pack to write.", completion: .file())
  var path: String

  @OptionGroup var key: KeyOptions

  @Option(name: .customLong("name"), help: "The name the pack is published under. (default: the directory's name)")
  var packName: String?

  @Option(help: ArgumentHelp("The version of this pack.", valueName: "n"))
  var packVersion: UInt64 = 1

  @Option(
    help: ArgumentHelp(
      """
      Compression level: fast, balanced, smallest, or a zstd level from 1 to 19. fast takes an eighth less CPU time than balanced and \
      makes packs 3 to 7 % larger.
      """, valueName: "level"),
    completion: .list(PackLevel.names))
  var level = "balanced"

  @Option(
    help: ArgumentHelp(
      """
      Frame size: the bytes compressed together, from 64KiB to 8MiB. Larger frames compress better, smaller ones are read faster. \
      (default: 2MiB, up to 8MiB where samples show that content repeats at a distance, and 8MiB with --level smallest)
      """, valueName: "size"))
  var frameSize: String?

  @Option(
    help: ArgumentHelp(
      "Segment size: the bytes encrypted together, a power of two from 4KiB to 1MiB. (default: 64KiB, with --layout from 8KiB on by size)",
      valueName: "size"))
  var segmentSize: String?

  @Option(
    name: .customLong("layout"),
    help: ArgumentHelp(
      "Lay files out in the order of this file, which 'packer serve --layout' writes. Frames are then at most 1MiB.", valueName: "file"),
    completion: .file())
  var orderPath: String?

  @OptionGroup var exclusion: ExcludeOption

  @Flag(name: .customLong("follow-symlinks"), help: "Pack the targets of symbolic links if they are inside the directory.")
  var followsSymlinks = false

  @Flag(name: .customLong("random-salt"), help: "Use a random salt: the same content gives a different pack each time.")
  var usesRandomSalt = false

  @Flag(
    name: .customLong("per-pack-key"),
    help: "Derive this pack's key from --key (a root key) and the pack's name.")
  var usesPackKey = false

  @Flag(name: .customLong("allow-secrets"), help: "Also pack private keys and .env files.")
  var allowsSecrets = false

  @Option(
    name: .customLong("allow-secret"),
    help: ArgumentHelp(
      "Also pack the files that match although one rule, named as in the error, finds a secret in them. Repeatable.",
      valueName: "rule:glob"))
  var allowedSecrets: [String] = []

  @Flag(name: .customLong("allow-unportable-paths"), help: "Also pack paths that some platforms cannot store.")
  var allowsUnportablePaths = false

  @OptionGroup var threads: JobsOption
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let job = try makeJob()
    try checkOutput(excludes: job.settings.excludes)
    try checkSource()
    let resolved = try session.key(key)
    try resolved.checkMakesPacks()
    let report = try await session.withProgress { (progress) async throws(PackError) in
      try await job.run(key: resolved, progress: progress)
    }
    let layout = try PackSummary.read(path).layout
    show(report, layout, on: session.console)
    return .done
  }

  /// Throws if the output would replace something other than a pack, or be packed itself by the next run.
  private func checkOutput(excludes: [String]) throws(PackError) {
    try PackOutput.check(path)
    let files = SystemFiles()
    guard let parts = PathParts(path), let parent = try? files.canonicalPath(of: parts.directory),
      let root = try? files.canonicalPath(of: directory)
    else { return }
    let front = Array("\(root == "/" ? "" : root)/".utf8)
    let output = Array("\(parent == "/" ? "" : parent)/\(parts.name)".utf8)
    guard output.starts(with: front) else { return }
    let place = String(decoding: output.dropFirst(front.count), as: UTF8.self)
    guard !DirectoryScan.doesExclude(place, isDirectory: false, by: excludes) else { return }
    throw PackError(
      .usage, of: path, "is inside \(directory), and the next pack would hold it",
      hint: "choose a place outside it with -o, or exclude it: --exclude \(ShellWord.quoted(Glob.writable("/\(place)")))")
  }

  /// Checks what is packed before a key is asked for.
  private func checkSource() throws(PackError) {
    let status = try SystemFiles().status(of: directory)
    guard status.kind != .directory else { return }
    throw PackError(
      .unsuitableSource, of: directory, "is not a directory", hint: "packs are made of directories: name the one that holds the file")
  }

  private func makeJob() throws(PackError) -> PackJob {
    let level = try Bounds.level(level, "--level")
    try Bounds.check(packVersion, "--pack-version", in: 0...Limits.packVersion)
    let frame = try frameSize.map { (text) throws(PackError) in
      try Bounds.size(
        text, "--frame-size", in: UInt64(PackSettings.frameSizes.lowerBound)...UInt64(PackSettings.frameSizes.upperBound),
        isPowerOfTwo: false)
    }
    let segment = try segmentSize.map { (text) throws(PackError) in
      try Bounds.size(
        text, "--segment-size", in: UInt64(Limits.smallestSegment)...UInt64(Limits.largestSegment), isPowerOfTwo: true)
    }

    var job = PackJob(source: directory, output: path, name: try name())
    // Both sizes were checked above, so they fit.
    (job.settings.level, job.settings.frameSize, job.settings.segmentSize) = (level, frame.map { Int($0) }, segment.map { UInt32($0) })
    (job.settings.excludes, job.settings.followsSymlinks) = (try exclusion.patterns(), followsSymlinks)
    (job.settings.allowsSecrets, job.settings.allowsUnportablePaths) = (allowsSecrets, allowsUnportablePaths)
    job.settings.allowedSecrets = try allowedSecrets.map { (text) throws(PackError) in try AllowedSecret(option: text) }
    job.settings.order = try orderPath.map { (path) throws(PackError) in try LoadOrder.read(path) }
    job.settings.usesRandomSalt = usesRandomSalt
    (job.packVersion, job.usesPackKey, job.looksForUnneeded, job.jobs) = (packVersion, usesPackKey, true, try threads.count())
    return job
  }

  private func name() throws(PackError) -> PackName {
    if let packName {
      do throws(PackError) {
        return try PackName(packName)
      } catch {
        guard let similar = PackName.similar(to: packName) else { throw error }
        throw PackError(error.code, error.message, hint: "\(error.hint.map { $0 + "\n" } ?? "")--name \(similar)")
      }
    }
    let own = try DirectoryTitle.of(directory)
    do throws(PackError) {
      return try PackName(own)
    } catch {
      let suggestion = PackName.similar(to: own).map { ", for example --name \($0)" } ?? ""
      throw PackError(
        .usage, "the directory's name, '\(own)', cannot be the name of a pack",
        hint: "give one with --name: 1 to \(Limits.nameLength) of A-Z a-z 0-9 . _ -, the first a letter or digit\(suggestion)")
    }
  }

  /// Lists what is packed and hardly meant to be. Nothing is excluded silently, because a game may need it.
  private func warn(about unneeded: [UnneededFiles], on console: Console) {
    guard !unneeded.isEmpty else { return }
    let kinds = unneeded.map { "\($0.pattern) ×\($0.files) (\(ByteCount($0.contentSize)))" }.joined(separator: ", ")
    let size = ByteCount(unneeded.reduce(0) { $0 + $1.contentSize })
    console.warning(
      "the pack holds \(size) that players hardly need: \(kinds)",
      hint: unneeded.map { "--exclude \(ShellWord.quoted($0.pattern))" }.joined(separator: " "))
  }

  private func show(_ report: PackReport, _ layout: SegmentLayout, on console: Console) {
    for path in report.omitted {
      if console.isJSON {
        console.result(path.json())
      } else {
        console.note(path.line)
      }
    }
    for pattern in report.unmatched {
      console.warning("nothing to pack matches --exclude \(ShellWord.quoted(pattern))", hint: Glob.hint)
    }
    warn(about: report.unneeded, on: console)
    if let page = report.innerPage { console.note("the pack has \(page), but no index.html at its root, where a game has it") }
    if report.largestFrame > UInt32(Limits.defaultFrameSize) {
      // Rounded up: the last frame of a small tree is shorter.
      let size = (report.largestFrame + (1 << 20) - 1) >> 20
      let cause =
        report.joinedFrames > 0
        ? "\(report.joinedFrames) of \(Table.count(report.frames, "frame", "frames")) are larger than usual, because content repeats in them"
        : "its frames are that large"
      console.note("a client needs \(size) MiB of memory for each thread that reads this pack: \(cause)")
    }
    let sizes = report.sizes
    let files = Table.count(report.files, "file", "files")
    let empty = Table.count(report.emptyDirectories, "empty directory", "empty directories")
    var rows: [(name: String, bytes: Int64, remark: String)] = [
      ("content", sizes.content, report.emptyDirectories == 0 ? files : "\(files), \(empty)")
    ]
    if report.duplicateFiles > 0 {
      let twins = Table.count(report.duplicateFiles, "file", "files")
      rows.append(("identical files", -sizes.identical, "\(twins) stored once"))
    }
    let frames = Table.count(report.frames, "frame", "frames")
    let segments = Table.count(layout.segmentCount, "segment", "segments")
    rows.append(("compression", sizes.compression, "with tar, index and seek table, in \(frames)"))
    rows.append(("encryption", sizes.encryption, "header, and tags of \(segments)"))
    let table = Table.sizes(rows, total: "pack")
    let fields = Table.fields(
      [
        ("key id", "\(report.keyID)"),
        ("name", report.name.text),
        ("pack version", "\(report.packVersion)"),
        ("content root", report.contentRoot.hex),
      ]
        + (orderPath == nil
          ? [] : [("launch", "\(ByteCount(report.launchSize)) in front, for \(Table.count(report.launchFiles, "file", "files"))")]))
    console.result(
      report.json(segments: layout.segmentCount), ["\(report.output): \(ByteCount(report.packSize))"] + table + fields)
  }
}
