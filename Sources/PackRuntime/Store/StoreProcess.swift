import PackFiles

/// Under which name a process leaves things in a store, and which others still run.
package struct StoreProcess: Sendable {
  /// The name: ASCII letters, digits and hyphens, at most 64. No two processes, and no two stores of one, have the same.
  package let session: String
  /// Whether the process with a name still runs. It must say yes of its own.
  package let isAlive: @Sendable (String) -> Bool

  package init(session: String, isAlive: @escaping @Sendable (String) -> Bool) {
    self.session = session
    self.isAlive = isAlive
  }

  /// This process, under a name that is new each time.
  package static func current() -> StoreProcess {
    let identity = ProcessIdentity.current
    return StoreProcess(session: "\(identity)-\(String(UInt32.random(in: 0...UInt32.max), radix: 16))") { session in
      guard let hyphen = session.lastIndex(of: "-"), let other = ProcessIdentity(String(session[..<hyphen])) else { return false }
      return other.isAlive
    }
  }
}
