extension ManifestPack {
  /// What counts in the numbers of a class of packs, in bytes: as served, and on the device; nil if nothing of it does.
  ///
  /// Of an essential pack with a lead, only the lead is essential. The pack itself comes later, as one that is fetched in advance does.
  func counted(as delivery: DeliveryClass) -> (download: UInt64, onDevice: UInt64)? {
    let lead = self.delivery == .essential && install == .packed ? stream?.size : nil
    switch delivery {
    case .essential where lead != nil: return lead.map { ($0, $0.adding(4095) / 4096 * 4096) }
    case .prefetch where lead != nil: break
    default: guard self.delivery == delivery else { return nil }
    }
    return (size, sizeOnDevice)
  }
}
