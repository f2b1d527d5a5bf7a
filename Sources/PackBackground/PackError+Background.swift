#if canImport(BackgroundAssets)
  public import PackFormat

  extension PackError.Code {
    /// The process is not in the app group that is named: the capability is missing, or the name is another.
    public static let noAppGroup = Self(rawValue: "no-app-group")
    /// The system's download manager refused, or did not answer.
    public static let systemRefused = Self(rawValue: "system-refused")
  }
#endif
