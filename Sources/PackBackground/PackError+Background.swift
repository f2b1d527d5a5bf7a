#if canImport(BackgroundAssets)

  extension PackError.Code {
    /// The process is not in the app group: the capability is missing, or the name is wrong.
    public static let noAppGroup = Self(rawValue: "no-app-group")
    /// The system's download manager refused or did not respond.
    public static let systemRefused = Self(rawValue: "system-refused")
  }
#endif
