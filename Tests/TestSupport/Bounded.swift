import Foundation
package import Testing

extension Trait where Self == TimeLimitTrait {
  /// Ends each test of a suite that hangs. A test waits for the processor while others run, so the limit is for the whole run of all tests on a slow
  /// machine: 30 minutes, 60 where everything is tried, or `PACKER_TEST_MINUTES` where only few suites run.
  package static var bounded: Self {
    .timeLimit(.minutes(ProcessInfo.processInfo.environment["PACKER_TEST_MINUTES"].flatMap(Int.init) ?? (Effort.isFull ? 60 : 30)))
  }
}
