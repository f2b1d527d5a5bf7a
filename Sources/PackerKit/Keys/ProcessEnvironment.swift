import PackRuntime

#if canImport(Darwin)
  import Darwin
#else
  // `environ` is a variable that the C library declares without saying who may change it.
  @unsafe @preconcurrency import Glibc
#endif

/// The environment of this process. Not safe while other threads change it.
package enum ProcessEnvironment {
  static func isSet(_ name: String) -> Bool {
    unsafe getenv(name) != nil
  }

  static func isEmpty(_ name: String) -> Bool {
    guard let value = unsafe getenv(name) else { return true }
    return unsafe strlen(value) == 0
  }

  /// The value of a variable that holds no secret; nil where it is not UTF-8.
  static func text(of name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(validatingCString: value)
  }

  /// The value of a variable, which is wiped where it stood and removed. The caller wipes the copy.
  static func take(_ name: String) -> [UInt8]? {
    guard let value = unsafe getenv(name) else { return nil }
    let count = unsafe strlen(value)
    let bytes = unsafe UnsafeMutableRawBufferPointer(start: value, count: count)
    let copy = unsafe [UInt8](bytes)
    // Removing a variable only forgets its address; the text would stay in the memory that the process table shows.
    for index in bytes.indices { unsafe bytes[index] = 0 }
    unsafe unsetenv(name)
    return copy
  }

  /// The variables that a program may have which this one starts: all but those that concern keys.
  package static func withoutKeys() -> [String] {
    var entries: [String] = []
    guard var next = unsafe list else { return [] }
    while let entry = unsafe next.pointee {
      let text = unsafe String(cString: entry)
      if !keyVariables.contains(where: text.hasPrefix) { entries.append(text) }
      unsafe next += 1
    }
    return entries
  }

  private static let keyVariables = [KeyKind.content.variable, KeyKind.signing.variable]

  private static var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    #if canImport(Darwin)
      unsafe _NSGetEnviron().pointee
    #else
      unsafe environ
    #endif
  }
}
