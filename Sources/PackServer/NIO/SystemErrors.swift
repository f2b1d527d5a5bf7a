#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Numbers of the system that a person is told in words.
enum SystemErrors {
  static let addressInUse = EADDRINUSE
  static let addressNotAvailable = EADDRNOTAVAIL
  static let permissionDenied = EACCES
}
