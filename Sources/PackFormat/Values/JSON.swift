/// A JSON value with what the documents of packer need: whole numbers, and no `null`.
///
/// Objects keep the order of their members, so that equal values give equal bytes. What reads, writes and compares values is in PackProject: apps link
/// this target.
package enum JSON: Sendable {
  case text(String)
  case number(UInt64)
  /// A number below zero.
  case negative(Int64)
  case flag(Bool)
  case list([JSON])
  case object([Member])

  /// A key of an object and its value.
  package struct Member: Sendable {
    package var key: String
    package var value: JSON

    package init(key: String, value: JSON) {
      self.key = key
      self.value = value
    }
  }
}
