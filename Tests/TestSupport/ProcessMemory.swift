import Foundation

#if os(Linux)
  import CMalloc
#endif

/// The memory of the process, as the system counts it.
package enum ProcessMemory {
  /// Whether the memory of the process is only that of its code. A sanitizer needs memory too; `Scripts/soak sanitizers` sets the variable.
  package static let isMeasurable = ProcessInfo.processInfo.environment["PACKER_SANITIZER"] == nil

  /// The error that the system does not report the memory. A test must not continue without it.
  package struct Unknown: Error {
    /// The name of the missing value.
    package let name: String
  }

  /// Returns a value of the process status, `VmRSS` or `VmHWM`, in kilobytes.
  ///
  /// - Throws: ``Unknown`` if the status has no such line, or another error if the process has ended.
  package static func kilobytes(_ name: String, of process: String = "self") throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    guard let number = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) }) else { throw Unknown(name: name) }
    return number
  }

  /// Returns the memory that only this process has and that it has written, in kilobytes.
  package static func dirtyKilobytes() throws -> Int {
    let rollup = try String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)
    let line = rollup.split(separator: "\n").first { $0.hasPrefix("Private_Dirty:") }
    guard let number = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) }) else {
      throw Unknown(name: "Private_Dirty")
    }
    return number
  }

  /// Resets the peak of the resident memory.
  package static func resetPeak() throws {
    guard let file = fopen("/proc/self/clear_refs", "w") else { throw Unknown(name: "clear_refs") }
    fputs("5", file)
    fclose(file)
  }

  /// Returns freed memory to the system.
  package static func giveBack() {
    #if os(Linux)
      malloc_trim(0)
    #endif
  }
}
