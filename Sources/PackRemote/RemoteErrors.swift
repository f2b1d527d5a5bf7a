extension PackError.Code {
  /// The bundled resource of an asset cannot be read, or its materializer refuses it. The app was built with a wrong resource.
  public static let invalidBundledResource = Self(rawValue: "invalid-bundled-resource")
  /// A ``Materializer`` refused the content.
  public static let invalidContent = Self(rawValue: "invalid-content")
  /// A ``DataProvider`` returned no content, for example because there is no network or the server refused the request.
  public static let contentUnavailable = Self(rawValue: "content-unavailable")
}
