import PackFormat
import PackManifest

extension DeviceProfile.Platform {
  /// Finds the platform that an option names. The case of letters makes no difference.
  init(option: String) throws(PackError) {
    guard let platform = Self.allCases.first(where: { $0.rawValue.lowercased() == option.lowercased() }) else {
      let isPad = option.lowercased() == "ipados"
      throw PackError(
        .usage, "'\(option)' is not a platform",
        hint: isPad ? "use --platform iOS, which includes iPadOS" : "use --platform iOS, macOS, tvOS or visionOS")
    }
    self = platform
  }
}
