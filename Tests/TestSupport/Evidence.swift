import Foundation

/// Reports how many cases of external test suites were run, for Tests/Interop/evidence.py to compare with Documentation/EVIDENCE.md.
package enum Evidence {
  /// Prints a line with the number of cases of a suite, and the number of cases not run, by reason.
  ///
  /// The line is also appended to the file that `PACKER_EVIDENCE` names, because parallel tests may split lines of the output.
  package static func tell(_ suite: String, cases: Int, notRun: [String: Int] = [:], with backend: String? = nil) {
    let left = notRun.values.reduce(0, +)
    let reasons = notRun.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    let line =
      "evidence: \(suite): \(cases) cases, \(cases - left) run, \(left) not run\(left == 0 ? "" : " (\(reasons))")"
      + (backend.map { ", with \($0)" } ?? "")
    print(line)
    guard let path = ProcessInfo.processInfo.environment["PACKER_EVIDENCE"], let file = fopen(path, "a") else { return }
    fputs(line + "\n", file)
    fclose(file)
  }
}
