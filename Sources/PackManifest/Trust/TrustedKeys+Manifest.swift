extension TrustedKeys: ManifestTrust {
  /// Returns the record of keys documents after those of a manifest.
  public func followed(_ document: SignedManifest, after record: [UInt8]?) -> (record: [UInt8]?, failure: PackError?) {
    // An app that embeds plain keys passes over keys documents.
    guard newest != nil else { return (nil, nil) }
    let progress = restored(from: record).following(document)
    return (progress.keys.record, progress.failure)
  }

  /// Checks that a manifest is signed by enough of the keys that count after a record, and that those have not expired.
  public func check(_ document: SignedManifest, record: [UInt8]?, at time: Int64) throws(PackError) {
    let keys = restored(from: record)
    try document.checkSignatures(trusting: keys)
    try keys.checkExpiry(at: ManifestTime(clamping: time))
  }
}

extension ManifestTime {
  /// Makes a time of a clock that may be wrong, limited to the times that a manifest can have from 1970 on.
  package init(clamping seconds: Int64) {
    guard let time = ManifestTime(secondsSince1970: min(max(seconds, 0), 253_402_300_799)) else {
      preconditionFailure("every second from 1970 to the end of the year 9999 is a time")
    }
    self = time
  }
}
