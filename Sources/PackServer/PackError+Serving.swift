extension PackError.Code {
  /// The server cannot be started: its port is in use or reserved for the system.
  package static let cannotServe = Self(rawValue: "cannot-serve")
}
