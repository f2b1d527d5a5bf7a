import Foundation
import TestSupport

/// A run of the tool.
struct ToolProcess {
  private let process: ChildProcess

  /// The path of the tool: the value of the variable PACKER, or beside the test bundle.
  static let tool: String = {
    if let named = ProcessInfo.processInfo.environment["PACKER"] { return named }
    #if os(Linux)
      let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
      return URL(fileURLWithPath: bundle).deletingLastPathComponent().appendingPathComponent("packer").path
    #else
      return Bundle(for: BundleMark.self).bundleURL.deletingLastPathComponent().appendingPathComponent("packer").path
    #endif
  }()

  #if !os(Linux)
    private final class BundleMark {}
  #endif

  /// Starts the tool.
  ///
  /// - Parameters:
  ///   - program: The program to run instead of the tool.
  ///   - directory: The working directory.
  ///   - output: The file for its standard output, or nil for a pipe without a reader.
  init(
    _ words: [String], program: String = tool, in directory: String, variables: [String: String], input: String = "/dev/null",
    output: String?, errors: String
  ) throws {
    process = try ChildProcess(program, words, in: directory, variables: variables, input: input, output: output, errors: errors)
  }

  /// Kills the process with SIGKILL, and returns when it has ended.
  func kill() {
    process.kill()
  }

  /// Waits for the end, and returns the exit status, or 128 plus the signal if a signal ended the process.
  func wait(seconds: TimeInterval) throws -> Int32 { try process.wait(seconds: seconds) }
}
