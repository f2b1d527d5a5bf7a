import ArgumentParser

/// `packer store reconcile`
struct StoreReconcile: OutputVerb {
  static let configuration = CommandConfiguration(
    commandName: "reconcile",
    abstract: "Repairs a store after crashes, purges or a restored backup, as an app does when it starts.",
    discussion: """
      A trial version whose app exited without confirming is rolled back. Names and sizes are checked; with --thorough, every byte of every pack. \
      The exit status is 1 if something could not be repaired. No key is needed, because digests are of the encrypted packs.

      Examples:
        packer store reconcile --store phone
        packer store reconcile --thorough --store phone
      """)

  @Flag(name: .customLong("thorough"), help: "Check the digests of everything that is installed.")
  var isThorough = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run(in session: Session) async throws(PackError) -> Outcome {
    let findings = try await store.open(decidesByManifest: true, in: session).reconcile(isThorough ? .thorough : .quick)
    for finding in findings {
      session.console.result(
        [
          "type": "finding", "kind": .text(finding.kind.rawValue), "pack": .text(finding.pack), "message": .text(finding.text),
          "isRepaired": .flag(finding.isRepaired),
        ], ["\(finding.kind.rawValue): \(finding.text)"])
    }
    let left = findings.count { !$0.isRepaired }
    guard left == 0 else {
      return .findings("\(store.directory): \(Table.count(left, "finding", "findings")) could not be repaired")
    }
    if findings.isEmpty { session.console.note("\(store.directory): nothing to repair") }
    return .done
  }
}
