extension ManifestPack {
  /// The entry with the larger size of its editions in each place, for what is promised before it is known which one a device takes.
  package var largestEdition: ManifestPack {
    guard let candidate else { return self }
    var pack = self
    pack.size = max(size, candidate.size)
    pack.installSize = max(installSize, candidate.installSize)
    // Without a lead, all of a pack is what comes first.
    pack.stream = stream.flatMap { own in candidate.stream.map { $0.size > own.size ? $0 : own } }
    return pack
  }

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
