import Foundation

/// The long form of tests, which `Scripts/soak` runs.
package enum LongForm {
  /// Whether the variable `PACKER_SOAK` is 1.
  package static let isOn = ProcessInfo.processInfo.environment["PACKER_SOAK"] == "1"
}
