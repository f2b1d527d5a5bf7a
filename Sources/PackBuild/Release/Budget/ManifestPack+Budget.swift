extension ManifestPack {
  /// The bytes that the system fetches of it as an essential download: its lead, or all of it. Nil if it is not essential.
  package var essentialSize: UInt64? {
    guard delivery == .essential else { return nil }
    return install == .packed ? stream?.size ?? size : size
  }

  /// Whether all of it is an essential download.
  package var isEssentialAsWhole: Bool { essentialSize == size }

  /// What counts in the numbers of a class of packs, in bytes: as served, and on the device; nil if nothing of it does.
  ///
  /// Of an essential pack with a lead, only the lead is essential. The pack itself comes later, as one that is fetched in advance does.
  package func counted(as delivery: DeliveryClass) -> (download: UInt64, onDevice: UInt64)? {
    if let essentialSize, essentialSize != size {
      switch delivery {
      case .essential: return (essentialSize, essentialSize.adding(4095) / 4096 * 4096)
      case .prefetch: return (size, sizeOnDevice)
      case .onDemand: return nil
      }
    }
    return self.delivery == delivery ? (size, sizeOnDevice) : nil
  }
}
