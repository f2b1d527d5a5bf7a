#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// How packer runs `rclone`.
package enum Rclone {
  /// Settings of the user that it does not get as variables, because they choose among files or change what it prints and how it ends. Those of
  /// remotes, and of the network, apply.
  private static let withheld = """
    PROGRESS STATS LOG_FORMAT= USE_JSON_LOG= SYSLOG HUMAN_READABLE= FORMAT= SEPARATOR= CSV= ABSOLUTE= RECURSIVE= DIRS_ONLY= FILES_ONLY= DIR_SLASH= HASH
    HEAD= TAIL= OFFSET= COUNT= DISCARD= DOWNLOAD= ONE_WAY= COMBINED= CHECKFILE= DIFFER= MATCH= MISSING_ON_ MIN_ MAX_SIZE= MAX_AGE= MAX_DEPTH=
    MAX_TRANSFER= MAX_DURATION= CUTOFF_MODE= EXCLUDE INCLUDE FILTER FILES_FROM METADATA_ IGNORE_ IMMUTABLE= UPDATE= SIZE_ONLY= ERROR_ON_NO_TRANSFER=
    COMPARE_DEST= COPY_DEST= BACKUP_DIR= SUFFIX
    """.split(whereSeparator: \.isWhitespace).map { "RCLONE_\($0)" }

  /// Whether there is no such program.
  package static var isMissing: Bool { ProgramStart(["rclone"]).searchFailure != nil }

  /// Runs it, as ``ProgramOutput/read(_:limit:files:allowing:without:)`` does.
  package static func run(_ words: [String], limit: Int, files: any FileSystem, allowing statuses: [CInt]) throws(PackError) -> [UInt8] {
    try ProgramOutput.read(["rclone"] + words, limit: limit, files: files, allowing: statuses, without: withheld)
  }

  /// Runs it although the task may be cancelled, for two seconds at most. Nothing is said of a failure.
  package static func tidy(_ words: [String]) {
    var start = ProgramStart(["rclone", "--log-file", "/dev/null"] + words)
    start.withheld = withheld
    start.streams[0] = .nothing
    guard let program = try? start.runPiped("rclone", failing: .cannotRead) else { return }
    let deadline = ContinuousClock.now + .seconds(2)
    while !ProgramEnd.hasEnded(program.process), ContinuousClock.now < deadline { usleep(10_000) }
    ProgramEnd.kill(program.process)
  }
}
