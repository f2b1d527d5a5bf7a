#if canImport(Darwin)
  import Foundation

  /// The protection of files while a device is locked.
  enum DataProtection {
    /// Sets the class of a directory, which files and directories that are made in it get.
    ///
    /// This is the system's default, but an app can have another one in its entitlements. Then neither its extension nor the app in the background
    /// could read these files while the phone is locked. Errors are ignored: without another default, nothing changes.
    static func untilFirstUnlock(_ directory: String) {
      try? FileManager.default.setAttributes(
        [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: directory)
    }
  }
#endif
