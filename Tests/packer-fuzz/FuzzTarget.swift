/// A function that takes untrusted bytes, and checks promises that must hold for all inputs.
///
/// A target is a pure function of its input: no file, no clock, no random number, no network. A trap is a finding, and so is a broken promise.
package struct FuzzTarget: Sendable {
  /// The name on the command line, and the name of the folder below `Tests/Corpora`.
  package let name: String
  /// The longest input that is tried, in bytes.
  package let largestInput: Int
  /// The number of mutated inputs in a test run. Targets that need a whole pack for each input have fewer.
  package let rounds: Int
  /// The number of inputs after which the engine starts a new process, or 0 for no limit.
  package let runsPerProcess: Int
  /// The source files that the target tests, relative to the root of the repository.
  package let files: [String]
  /// The inputs from which mutations start. Each call makes the same values.
  package let seeds: @Sendable () throws -> [FuzzSeed]
  /// Runs the target on one input.
  package let run: @Sendable (_ bytes: [UInt8]) throws(BrokenPromise) -> Void

  init(
    _ name: String, largestInput: Int = 4096, rounds: Int = 2000, runsPerProcess: Int = 0, files: [String],
    seeds: @escaping @Sendable () throws -> [FuzzSeed],
    run: @escaping @Sendable (_ bytes: [UInt8]) throws(BrokenPromise) -> Void
  ) {
    self.name = name
    self.largestInput = largestInput
    self.rounds = rounds
    self.runsPerProcess = runsPerProcess
    self.files = files
    self.seeds = seeds
    self.run = run
  }

  /// The time limit for one input under the engine, in seconds. All known inputs take less than a tenth of a second.
  package static let timeoutSeconds = 10
  /// The memory limit of the process under the engine, in MiB, for the engine's data and one input.
  package static let memoryMebibytes = 1024

  /// Every target, in the order of the documentation.
  package static let all: [FuzzTarget] = [
    header, stanzas, index, treeCount, seekTable, frames, manifest, keys, shard, lead, opener, json, records, plist, configuration, keyText,
    keyReference,
    ranges,
    fields,
    status, store, asset, pack, tree, tamper, deltas, delivery, tar, executable, zip, web, logs,
  ]

  /// Returns the target with a name, or nil if there is none.
  package static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// An input from which mutations start.
package struct FuzzSeed: Hashable, Sendable {
  /// The name of its file.
  package let name: String
  /// The input.
  package let bytes: [UInt8]

  init(_ name: String, _ bytes: [UInt8]) {
    self.name = name
    self.bytes = bytes
  }

  init(_ name: String, _ text: String) {
    self.init(name, Array(text.utf8))
  }
}
