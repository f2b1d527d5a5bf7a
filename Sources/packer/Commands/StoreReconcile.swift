import ArgumentParser
import PackFormat
import PackStore

/// `packer store reconcile`
struct StoreReconcile: Verb {
  static let configuration = CommandConfiguration(
    commandName: "reconcile",
    abstract: "Sets right what crashes, the system or a restored backup left, as an app does when it starts.",
    discussion: """
      A version on trial whose process has ended falls. Names and sizes are looked at; with --thorough every byte of every pack. Exit status 1 where \
      something could not be set right. No key is needed: digests are of packs as they are.

      Examples:
        packer store reconcile --store phone
        packer store reconcile --thorough --store phone
      """)

  @Flag(name: .customLong("thorough"), help: "Check every digest of all that is installed.")
  var isThorough = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  static var leavesNothingBehind: Bool { false }
  var isQuiet: Bool { output.isQuiet }

  func run(in session: Session) async throws(PackError) -> Outcome {
    try StorePlace.require(store.directory)
    let findings = try await store.open(decidesByManifest: true, in: session).reconcile(isThorough ? .thorough : .quick)
    for finding in findings {
      session.console.result(StoreFindingRecord(finding), ["\(finding.kind.rawValue): \(finding.text)"])
    }
    let left = findings.count { !$0.isRepaired }
    guard left == 0 else {
      return .findings("\(store.directory): \(Table.count(left, "finding", "findings")) could not be set right")
    }
    if findings.isEmpty { session.console.note("\(store.directory): there was nothing to set right") }
    return .done
  }
}

private struct StoreFindingRecord: Encodable {
  let type = "finding"
  let kind: String
  let pack: String?
  let message: String
  let isRepaired: Bool

  init(_ finding: StoreFinding) {
    kind = finding.kind.rawValue
    pack = finding.pack
    message = finding.text
    isRepaired = finding.isRepaired
  }
}
