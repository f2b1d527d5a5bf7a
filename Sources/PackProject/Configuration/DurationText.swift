/// Durations as people write them, in packer.yml and on the command line.
package enum DurationText {
  /// Returns the seconds in a whole number of hours, days or weeks, such as `365 days`. Returns nil if the text is something else.
  package static func seconds(_ text: String) -> UInt64? { ScalarFormat.seconds(text) }
}
