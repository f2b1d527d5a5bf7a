import Foundation

/// What a run tells of other people's cases, for Tests/Interop/evidence.py to compare with Documentation/EVIDENCE.md.
package enum Evidence {
  /// Prints a line with the cases of a suite and those of them that were not run, by reason.
  ///
  /// The line is added to the file that `PACKER_EVIDENCE` names: in the output of many tests at once it may come apart.
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
