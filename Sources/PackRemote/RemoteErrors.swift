public import PackFormat

extension PackError.Code {
  /// The resource that an asset starts with cannot become its value: the app was built with a wrong one.
  public static let invalidBundledResource = Self(rawValue: "invalid-bundled-resource")
  /// Bytes are not what a ``Materializer`` makes a value of.
  public static let invalidContent = Self(rawValue: "invalid-content")
  /// A ``DataProvider`` brought nothing: no network, or a server that refuses.
  public static let contentUnavailable = Self(rawValue: "content-unavailable")
}
