/// Saturating arithmetic for sizes that a file claims and that are not verified yet.
extension UInt64 {
  /// The sum, or the largest number if it would be larger.
  @inlinable
  package func adding(_ other: UInt64) -> UInt64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }

  /// The difference, or 0 if it would be negative.
  @inlinable
  package func less(_ other: UInt64) -> UInt64 { self > other ? self - other : 0 }

  /// The product, or the largest number if it would be larger.
  @inlinable
  package func times(_ other: UInt64) -> UInt64 {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? .max : product
  }
}
