import CLibArchive

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A UTF-8 locale for the length of one call.
///
/// libarchive converts paths with the locale of the thread, and fails for paths outside ASCII in the "C" locale with which a Swift program starts.
/// This must not change the locale of the process, so it changes only that of the thread.
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
