/// Paths of one place as seen from another.
package enum RelativePath {
  /// Returns the path that leads from a directory to a target; `.` if they are the same.
  ///
  /// - Parameters:
  ///   - target: an absolute path without symbolic links, `.` and `..`.
  ///   - base: a directory, named in the same way.
  package static func text(to target: String, from base: String) -> String {
    let target = target.split(separator: "/")
    let base = base.split(separator: "/")
    let common = zip(target, base).prefix { $0 == $1 }.count
    let parts = Array(repeating: "..", count: base.count - common) + target[common...].map(String.init)
    return parts.isEmpty ? "." : parts.joined(separator: "/")
  }
}
