import PackFiles

/// Under which name a process leaves things in a store, and which others still run.
package struct StoreProcess: Sendable {
  /// The name: ASCII letters, digits and hyphens, at most 64. No two processes, and no two stores of one, have the same.
  package let session: String
  /// Whether the process with a name still runs. It must say yes of its own.
  package let isAlive: @Sendable (String) -> Bool

  /// Whether a name is this store's, or that of another store of this very process.
  package let isOwn: @Sendable (String) -> Bool

  /// - Parameter isOwn: true of `session` alone where it is nil.
  package init(
    session: String, isAlive: @escaping @Sendable (String) -> Bool, isOwn: (@Sendable (String) -> Bool)? = nil
  ) {
    self.session = session
    self.isAlive = isAlive
    self.isOwn = isOwn ?? { $0 == session }
  }

  /// This process, under a name that is new each time.
  package static func current() -> StoreProcess {
    let mine = ProcessIdentity.current
    @Sendable func identity(ofSession session: String) -> ProcessIdentity? {
      session.lastIndex(of: "-").flatMap { ProcessIdentity(String(session[..<$0])) }
    }
    return StoreProcess(session: "\(mine)-\(String(UInt32.random(in: 0...UInt32.max), radix: 16))") { session in
      identity(ofSession: session)?.isAlive ?? false
    } isOwn: { session in
      identity(ofSession: session) == mine
    }
  }
}
