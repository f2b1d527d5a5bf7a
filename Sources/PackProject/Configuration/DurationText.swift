/// Durations as people write them, in packer.yml and on the command line.
package enum DurationText {
  /// Returns the seconds in a whole number of hours, days or weeks, such as `365 days`. Returns nil if the text is something else.
  package static func seconds(_ text: String) -> UInt64? { ScalarFormat.seconds(text) }
}

/// Shares as people write them.
package enum PercentText {
  /// Returns a percentage with at most two decimals in hundredths of a percent. Returns nil if the text is something else, or above 100.
  package static func basisPoints(_ text: String) -> UInt64? { ScalarFormat.basisPoints(text) }

  /// Returns the text for hundredths of a percent.
  package static func text(_ points: UInt64) -> String {
    let (whole, rest) = points.quotientAndRemainder(dividingBy: 100)
    return rest == 0 ? "\(whole) %" : "\(whole).\(rest < 10 ? "0" : "")\(rest) %"
  }
}
