/// The names under which clients reach a server on this machine.
package struct ServerNames: Sendable {
  /// The addresses to listen on.
  package let hosts: [String]
  /// The host names and addresses for clients, the best for a client on this machine first.
  package let all: [String]
  /// Whether the server listens on all addresses.
  package let listensEverywhere: Bool
  /// The name that the caller gave; nil if it gave none, or the one for all addresses.
  let required: String?

  /// - Parameter host: the address to listen on; nil for this machine only.
  package init(host: String?) {
    hosts = host.map { [$0] } ?? ["127.0.0.1", "::1"]
    listensEverywhere = host == "0.0.0.0" || host == "::"
    required = listensEverywhere ? nil : host
    guard let host else {
      all = MachineNames.loopback
      return
    }
    guard listensEverywhere else {
      all = Self.isLoopback(host) && host != "localhost" ? [host, "localhost"] : [host]
      return
    }
    let names = MachineNames.all().dropFirst(MachineNames.loopback.count)
    let addresses = names.filter { LocalCertificate.isAddress($0) && (host == "::" || !$0.contains(":")) }
    // Other devices do not know a name without a dot.
    all = ["localhost"] + addresses + names.filter { !LocalCertificate.isAddress($0) && $0.contains(".") }
  }

  /// Returns whether a name means the machine on which it is used.
  package static func isLoopback(_ name: String) -> Bool { MachineNames.loopback.contains(name) }
}
