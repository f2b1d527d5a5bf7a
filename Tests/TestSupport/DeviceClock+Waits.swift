/// Waits that end at once, for the clocks of tests that say nothing else.
extension DeviceClock {
  package var now: Duration { .zero }
  package func sleep(for duration: Duration) async { await Task.yield() }
  package func pause(for duration: Duration) {}
}
