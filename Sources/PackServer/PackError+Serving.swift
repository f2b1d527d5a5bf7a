package import PackFormat

extension PackError.Code {
  /// The server cannot be started: its port is taken, or kept for the system.
  package static let cannotServe = Self(rawValue: "cannot-serve")
}
