import ArgumentParser
import PackRuntime
import PackerKit

/// `packer verify`
struct Verify: Verb {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks every byte of packs, and their content against the directory they were made from.",
    discussion: """
      Every tag, every digest, and the index against the archive as an independent reader sees it. With --against, every \
      difference from the directory is a finding, and the exit status is 1. Of several packs the largest status counts.

      Examples:
        packer verify game.pack --key game.key
        packer verify dist/*.pack --key env:GAME_KEY
        packer verify game.pack --key game.key --against build/game
      """)

  @Argument(help: "The packs.", completion: .file())
  var files: [String]

  @Option(name: .customLong("against"), help: "The directory the pack was made from.", completion: .directory)
  var tree: String?

  @Option(
    name: .customLong("exclude"),
    help: ArgumentHelp("Ignore what matches in that directory, as 'packer pack' did. Repeatable.", valueName: "glob"))
  var excludes: [String] = []

  @Flag(name: .customLong("follow-symlinks"), help: "Follow symbolic links in that directory, as 'packer pack' did.")
  var followsSymlinks = false

  @OptionGroup var check: CheckOptions
  @OptionGroup var threads: JobsOption
  @OptionGroup var key: KeyOptions
  @OptionGroup var output: OutputOptions

  static var needsLibArchive: Bool { true }
  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    guard tree != nil || excludes.isEmpty && !followsSymlinks else {
      throw PackError(
        .usage, "--exclude and --follow-symlinks say how to read a directory, and there is none to compare with",
        hint: "give it with --against DIR")
    }
    let jobs = try threads.count()
    let name = try check.name()
    let resolved = try session.key(key)
    var outcomes = Outcomes()
    for file in files {
      try Task.checkCancelled()
      do throws(PackError) {
        let report = try await naming(file) { () async throws(PackError) in
          try await session.withProgress { (progress) async throws(PackError) in
            try await PackVerification.run(
              file, key: resolved.key, name: name, against: tree, excludes: excludes, followsSymlinks: followsSymlinks,
              allowsUnportablePaths: check.allowsUnportablePaths, jobs: jobs, progress: progress)
          }
        }
        outcomes.add(show(report, of: file, on: session.console))
      } catch {
        try outcomes.add(error, of: file, to: session.console)
      }
    }
    return outcomes.worst
  }

  private func show(_ report: VerificationReport, of file: String, on console: Console) -> Outcome {
    for finding in report.findings {
      console.result(
        FindingRecord(file: file, finding), ["\(file): \(finding.kind.rawValue): \(finding.path) \(finding.message)"])
    }
    let isSame = report.findings.isEmpty
    let differences = Table.count(report.findings.count, "difference", "differences")
    let verdict = isSame ? "ok" : "whole, but with \(differences) from \(tree ?? "the directory")"
    let facts = [
      Table.count(report.entries, "entry", "entries"), "\(ByteCount(report.contentSize))",
      Table.count(report.segments, "segment", "segments"), "content root \(report.contentRoot.hex)",
    ]
    console.result(VerificationRecord(file: file, report), ["\(file): \(verdict), \(facts.joined(separator: ", "))"])
    return isSame ? .done : .findings("\(file): \(differences) from \(tree ?? "the directory")")
  }
}

private struct FindingRecord: Encodable {
  let type = "finding"
  let file: String
  let kind: String
  let path: String
  let message: String

  init(file: String, _ finding: Finding) {
    self.file = file
    kind = finding.kind.rawValue
    path = finding.path
    message = finding.message
  }
}

private struct VerificationRecord: Encodable {
  let type = "file"
  let file: String
  let ok: Bool
  let findings: Int
  let entries: Int
  let packSize: UInt64
  let contentSize: UInt64
  let segments: UInt64
  let contentRoot: String

  init(file: String, _ report: VerificationReport) {
    self.file = file
    ok = report.findings.isEmpty
    findings = report.findings.count
    entries = report.entries
    packSize = report.packSize
    contentSize = report.contentSize
    segments = report.segments
    contentRoot = report.contentRoot.hex
  }
}
