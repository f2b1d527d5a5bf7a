#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Error numbers of the system that have their own messages.
enum SystemErrors {
  static let addressInUse = EADDRINUSE
  static let addressNotAvailable = EADDRNOTAVAIL
  static let permissionDenied = EACCES
}
