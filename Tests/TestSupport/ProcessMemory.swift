import Foundation

#if os(Linux)
  import CMalloc
#endif

/// What the process takes, as the system counts it.
package enum ProcessMemory {
  /// Whether what a process takes is what its code takes. A sanitizer has memory of its own; `Scripts/soak sanitizers` sets the variable.
  package static let isMeasurable = ProcessInfo.processInfo.environment["PACKER_SANITIZER"] == nil

  /// The system does not say how much memory is taken. A test that goes on without that has shown nothing.
  package struct Unknown: Error {
    /// What was asked for.
    package let name: String
  }

  /// A line of its status: `VmRSS`, `VmHWM`.
  ///
  /// - Throws: ``Unknown`` where the process is gone, or its status has no such line.
  package static func kilobytes(_ name: String, of process: String = "self") throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    guard let number = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) }) else { throw Unknown(name: name) }
    return number
  }

  /// Has the system forget how much was resident before.
  package static func resetPeak() throws {
    guard let file = fopen("/proc/self/clear_refs", "w") else { throw Unknown(name: "clear_refs") }
    fputs("5", file)
    fclose(file)
  }

  /// Returns to the system what was freed.
  package static func giveBack() {
    #if os(Linux)
      malloc_trim(0)
    #endif
  }
}
