extension DeviceProfile.Platform {
  /// Finds the platform with a name. The case of letters makes no difference.
  init?(ignoringCase name: String) {
    guard let platform = Self.allCases.first(where: { $0.rawValue.lowercased() == name.lowercased() }) else { return nil }
    self = platform
  }

  /// Finds the platform that an option names. The case of letters makes no difference.
  init(option: String) throws(PackError) {
    guard let platform = Self(ignoringCase: option) else {
      let isPad = option.lowercased() == "ipados"
      throw PackError(
        .usage, "'\(option)' is not a platform",
        hint: isPad ? "use --platform iOS, which includes iPadOS" : "use --platform iOS, macOS, tvOS or visionOS")
    }
    self = platform
  }
}
