import Foundation
import TestSupport

/// The root command. It has so few options that it needs no argument parser.
struct PackerFuzz {
  /// Runs the command in the arguments, and returns the exit status. Returns nil if libFuzzer takes over.
  static func status() -> CInt? {
    do {
      return try run(Array(CommandLine.arguments.dropFirst()))
    } catch {
      complain("\(error)")
      return 70
    }
  }

  private static func run(_ words: [String]) throws -> CInt? {
    guard let verb = words.first else { return usage() }
    let rest = Array(words.dropFirst())
    switch verb {
    case "list":
      for target in FuzzTarget.all { print(target.name) }
    case "files":
      guard let target = target(rest.first) else { return 64 }
      for file in target.files { print(file) }
    case "limits":
      guard let target = target(rest.first) else { return 64 }
      print(target.largestInput, FuzzTarget.timeoutSeconds, FuzzTarget.memoryMebibytes, target.runsPerProcess)
    case "seeds":
      guard let target = target(rest.first), rest.count == 2 else { return usage() }
      for seed in try target.seeds() { try OutputFile.write(seed.bytes, to: "\(rest[1])/seed-\(seed.name)", files: SystemFiles()) }
    case "replay":
      guard let target = target(rest.first), rest.count > 1 else { return usage() }
      return try replay(target, Array(rest.dropFirst()))
    case "mutate":
      guard let target = target(rest.first), rest.count >= 2, let rounds = Int(rest[1]) else { return usage() }
      return try mutate(target, rounds, seed: rest.count > 2 ? UInt64(rest[2]) : nil)
    case "engine":
      guard let target = target(rest.first) else { return 64 }
      return Engine.run(target, arguments: Array(rest.dropFirst()))
    default:
      return usage()
    }
    return 0
  }

  private static func target(_ name: String?) -> FuzzTarget? {
    if let target = name.flatMap(FuzzTarget.named) { return target }
    complain("there is no target '\(name ?? "")'", hint: "packer-fuzz list")
    return nil
  }

  private static func usage() -> CInt {
    complain(
      "unknown verb, or missing arguments",
      hint:
        "packer-fuzz list | files TARGET | limits TARGET | seeds TARGET DIR | replay TARGET FILE… | mutate TARGET ROUNDS [SEED] "
        + "| engine TARGET ARGUMENTS…"
    )
    return 64
  }

  /// Runs a target on files, one by one.
  private static func replay(_ target: FuzzTarget, _ paths: [String]) throws -> CInt {
    var findings = 0
    for path in paths {
      let bytes = try SystemFiles().contents(of: path, limit: 64 << 20)
      do throws(BrokenPromise) {
        try target.run(bytes)
      } catch {
        print("\(path): \(error)")
        findings += 1
      }
    }
    print("\(target.name): \(paths.count) inputs, \(findings) findings")
    return findings == 0 ? 0 : 1
  }

  /// Runs a target on mutated seeds.
  private static func mutate(_ target: FuzzTarget, _ rounds: Int, seed: UInt64?) throws -> CInt {
    let start = seed ?? UInt64.random(in: 0...UInt64.max)
    print("\(target.name): SEED=\(start)")
    var mutator = Mutator(SeededGenerator(seed: start))
    let seeds = try target.seeds()
    for round in 0..<rounds {
      let input = mutator.input(from: seeds, largest: target.largestInput)
      do throws(BrokenPromise) {
        try target.run(input)
      } catch {
        print("\(target.name), round \(round): \(error)\n\(input.hex)")
        return 1
      }
    }
    print("\(target.name): \(rounds) inputs, no finding")
    return 0
  }
}

/// Prints an error on standard error.
func complain(_ message: String, hint: String? = nil) {
  var text = "packer-fuzz: error: \(message)\n"
  if let hint { text += "packer-fuzz: hint: \(hint)\n" }
  FileHandle.standardError.write(Data(text.utf8))
}
