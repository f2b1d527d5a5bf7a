public import PackManifest

/// The bytes that may still be downloaded before the app was started for the first time.
///
/// They come from the Info.plist of the app that is installed. After the first start there are no such bounds.
public struct Allowance: Hashable, Sendable {
  /// What is left for essential packs, in bytes.
  public var essential: UInt64
  /// What is left for all others, in bytes.
  public var other: UInt64

  /// Makes a value from its numbers.
  public init(essential: UInt64, other: UInt64) {
    self.essential = essential
    self.other = other
  }

  /// What is left once the manifest was downloaded, which counts as essential.
  public init(_ budget: InstallBudget, manifestSize: UInt64) {
    let total = budget.essentialDownloadAllowance
    self.init(essential: total > manifestSize ? total - manifestSize : 0, other: budget.downloadAllowance)
  }

  /// Takes a download off what is left, if it fits as the system has it: a download of exactly as many bytes as are left does not.
  public mutating func take(_ bytes: UInt64, isEssential: Bool) -> Bool {
    let left = isEssential ? essential : other
    guard bytes < left else { return false }
    if isEssential { essential = left - bytes } else { other = left - bytes }
    return true
  }
}
