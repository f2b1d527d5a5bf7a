#if canImport(Darwin)
  import Foundation
#endif

extension DeviceProfile {
  /// The platform that this code is compiled for, and the languages that the user set, for the device or for this app. On other systems than Apple's, ``any``.
  public static var current: DeviceProfile {
    #if canImport(Darwin)
      DeviceProfile(platform: .current, languages: Locale.preferredLanguages)
    #else
      .any
    #endif
  }
}
