import PackBackground

/// What app and extension share about deliveries.
enum Deliveries {
  /// The records and files in the container of the app group.
  static func state() throws(PackError) -> SharedState {
    try SharedState(group: Publisher.group)
  }

  /// What the extension does.
  static let extensionPart = BackgroundDelivery(group: Publisher.group, report: { print("downloader: \($0)") }, open: open)

  @Sendable private static func open() throws(PackError) -> ExtensionDelivery {
    let keys = [try SigningPublicKey(text: Publisher.publicKey)]
    return ExtensionDelivery(state: try state(), isForDevice: Publisher.isForDevice) { (document) throws(PackError) in
      try document.verify(trusting: keys).manifest
    }
  }
}
