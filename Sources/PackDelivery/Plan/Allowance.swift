/// The number of bytes that may still be downloaded before the first start of the app.
///
/// The limits come from the Info.plist of the installed app. They do not apply after the first start.
public struct Allowance: Hashable, Sendable {
  /// The bytes left for essential packs.
  public var essential: UInt64
  /// The bytes left for all other packs.
  public var other: UInt64

  /// Creates an allowance.
  public init(essential: UInt64, other: UInt64) {
    self.essential = essential
    self.other = other
  }

  /// Creates the allowance that remains after the download of the manifest, which counts as essential.
  public init(_ budget: InstallBudget, manifestSize: UInt64) {
    let total = budget.essentialDownloadAllowance
    self.init(essential: total > manifestSize ? total - manifestSize : 0, other: budget.downloadAllowance)
  }

  /// Subtracts a download if it fits. Returns false if it does not. As in the system, a download of exactly the bytes left does not fit.
  public mutating func take(_ bytes: UInt64, isEssential: Bool) -> Bool {
    let left = isEssential ? essential : other
    guard bytes < left else { return false }
    if isEssential { essential = left - bytes } else { other = left - bytes }
    return true
  }
}
