import CLibArchive

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// libarchive converts paths by the locale of the thread, and fails on anything but ASCII in the "C" locale that a Swift
/// program starts with. The process's locale is not ours to change, so the thread's is, for the length of one call.
enum UTF8Locale {
  private nonisolated(unsafe) static let locale = unsafe newlocale(LC_CTYPE_MASK, "C.UTF-8", nil)

  static func run<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    guard let locale = unsafe locale else { return try body() }
    let previous = unsafe uselocale(locale)
    defer { _ = unsafe uselocale(previous) }
    return try body()
  }
}

/// The version of the libarchive library this process uses.
package var libArchiveVersion: String {
  let number = archive_version_number()
  return "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)"
}
