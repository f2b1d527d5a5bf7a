import Foundation

#if os(Linux)
  import CMalloc
#endif

/// What the process takes, as the system counts it.
package enum ProcessMemory {
  /// A line of its status: `VmRSS`, `VmHWM`.
  package static func kilobytes(_ name: String, of process: String = "self") -> Int {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name + ":") })
    else { return 0 }
    return line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0
  }

  /// Has the system forget how much was resident before.
  package static func resetPeak() {
    guard let file = fopen("/proc/self/clear_refs", "w") else { return }
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
