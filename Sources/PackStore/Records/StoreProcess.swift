/// The session name that a process uses in a store, and a check of which other processes still run.
package struct StoreProcess: Sendable {
  /// The session name: at most 64 ASCII letters, digits and hyphens. It is different for each process, and for each store in a process.
  package let session: String
  /// Returns whether the process with a session name still runs. It must return true for this process.
  package let isAlive: @Sendable (String) -> Bool

  /// Returns whether a session name belongs to this store, or to another store in this process.
  package let isOwn: @Sendable (String) -> Bool

  /// - Parameter isOwn: If nil, only `session` counts as this process.
  package init(
    session: String, isAlive: @escaping @Sendable (String) -> Bool, isOwn: (@Sendable (String) -> Bool)? = nil
  ) {
    self.session = session
    self.isAlive = isAlive
    self.isOwn = isOwn ?? { $0 == session }
  }

  /// Returns this process with a new session name.
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
