#if canImport(Darwin)
  import Darwin
#else
  // `environ` is a global variable without concurrency annotations in the C library.
  @unsafe @preconcurrency import Glibc
#endif

/// The environment of this process. Not safe if other threads change it at the same time.
package enum ProcessEnvironment {
  package static func isSet(_ name: String) -> Bool {
    unsafe getenv(name) != nil
  }

  static func isEmpty(_ name: String) -> Bool {
    guard let value = unsafe getenv(name) else { return true }
    return unsafe strlen(value) == 0
  }

  /// Returns the value of a variable that is not a secret; nil if it is not set or not UTF-8.
  package static func text(of name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(validatingCString: value)
  }

  /// Returns a copy of the value of a variable, wipes the original and removes the variable. The caller must wipe the copy.
  static func take(_ name: String) -> [UInt8]? {
    guard let value = unsafe getenv(name) else { return nil }
    let count = unsafe strlen(value)
    let bytes = unsafe UnsafeMutableRawBufferPointer(start: value, count: count)
    let copy = unsafe [UInt8](bytes)
    // Removing a variable does not erase its text, which would stay in the memory that the process table shows.
    for index in bytes.indices { unsafe bytes[index] = 0 }
    unsafe unsetenv(name)
    return copy
  }

  /// Lends the variables for a program that this process starts. Leaves out variables that concern keys by their names, and those that contain the text of a
  /// key, such as the one of an `env:NAME` that is read later, and those that start with one of some texts. Nothing is copied.
  static func lendWithoutKeys<Result>(
    and withheld: [String] = [], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var entries: [UnsafeMutablePointer<CChar>?] = unsafe []
    if var next = unsafe list {
      while let entry = unsafe next.pointee {
        if unsafe !starts(entry, withheld), unsafe !concernsKeys(entry) { unsafe entries.append(entry) }
        unsafe next += 1
      }
    }
    return unsafe lend(&entries, body)
  }

  private static let keyVariables = [KeyKind.content.variable, KeyKind.signing.variable, KeyKind.root.variable]

  private static func starts(_ entry: UnsafePointer<CChar>, _ texts: [String]) -> Bool {
    texts.contains { unsafe strncmp(entry, $0, $0.utf8.count) == 0 }
  }

  private static func concernsKeys(_ entry: UnsafePointer<CChar>) -> Bool {
    if unsafe starts(entry, keyVariables) { return true }
    guard let sign = unsafe strchr(entry, CInt(UInt8(ascii: "="))) else { return false }
    let value = unsafe UnsafeBufferPointer(start: sign + 1, count: strlen(sign + 1))
    // Digits without a prefix may be anything, such as a token that the program needs.
    return unsafe value.withMemoryRebound(to: UInt8.self) { unsafe KeyShape(in: Span(_unsafeElements: $0)).prefixed != nil }
  }

  private static var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    #if canImport(Darwin)
      unsafe _NSGetEnviron().pointee
    #else
      unsafe environ
    #endif
  }
}
