extension PackError.Code {
  /// Another manifest was accepted during the request, and the tags now belong to other packs or other bytes.
  public static let manifestChanged = Self(rawValue: "manifest-changed")
}
