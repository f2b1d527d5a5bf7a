/// Something that bytes of a stranger go into, and what has to hold whatever they are.
///
/// A target is a pure function of its input: no file, no clock, no random number, no network. A trap in it is a finding as much as a promise
/// that it sees broken.
package struct FuzzTarget: Sendable {
  /// The name on the command line, and of the folder below `Tests/Corpora`.
  package let name: String
  /// The longest input that is tried, in bytes.
  package let largestInput: Int
  /// The inputs of a test run that are changed at random. Fewer where each takes a whole pack.
  package let rounds: Int
  /// The inputs after which the engine starts a process anew; 0 where one process may take them all.
  package let runsPerProcess: Int
  /// The sources that the target is there for, from the root of the repository.
  package let files: [String]
  /// Valid values, made anew each time and always the same: what mutations start from.
  package let seeds: @Sendable () throws -> [FuzzSeed]
  /// Takes one input.
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

  /// The seconds that one input may take under the engine. None that is known takes a tenth of one.
  package static let timeoutSeconds = 10
  /// The memory that the process may take under the engine, in MiB: all that the engine keeps, and one input.
  package static let memoryMebibytes = 1024

  /// Every target, in the order of the documentation.
  package static let all: [FuzzTarget] = [
    header, stanzas, index, seekTable, frames, manifest, json, records, plist, configuration, keyText, ranges, fields, journal, batch,
    status, store, asset, pack, tree, tamper, delivery, tar,
  ]

  /// The target of that name.
  package static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// A valid value to start from.
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
